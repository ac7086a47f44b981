import { AppError } from '../../platform/shared/index.js';

/** Wrong, expired or used; which of them is not revealed. */
export class CodeNotAccepted extends AppError {
  constructor() {
    super('invalid_request', 'Invalid code. Enter the current code from your app; each code works once.', {
      param: 'code',
    });
  }
}

/** The secret cannot be decrypted: SECRET_KEY was changed. */
export class CodesUnreadable extends AppError {
  constructor() {
    super(
      'invalid_request',
      'App codes cannot be verified. Enter a recovery code, or ask an administrator to turn off two-factor authentication.',
      { param: 'code' },
    );
  }
}

/** Already on, for example through another window. */
export class SecondFactorIsOn extends AppError {
  constructor() {
    super('conflict', 'Two-factor authentication is already on.');
  }
}

/** Already off, for example through another window. */
export class SecondFactorIsOff extends AppError {
  constructor() {
    super('conflict', 'Two-factor authentication is off for this account.');
  }
}
