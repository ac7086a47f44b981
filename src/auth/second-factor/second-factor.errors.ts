import { AppError } from '../../platform/shared/index.js';

/** Wrong, of another time, or used before: which of them is not told. */
export class CodeNotAccepted extends AppError {
  constructor() {
    super('invalid_request', 'Invalid code. Enter the current code from your app; each code works once.', {
      param: 'code',
    });
  }
}

/** What codes are made from does not open: SECRET_KEY is another one than it was sealed under. */
export class CodesUnreadable extends AppError {
  constructor() {
    super(
      'invalid_request',
      'App codes cannot be verified. Enter a recovery code, or ask an administrator to turn off two-factor authentication.',
      { param: 'code' },
    );
  }
}

/** A second factor that is to be turned on is on already: on a page, by another window meanwhile. */
export class SecondFactorIsOn extends AppError {
  constructor() {
    super('conflict', 'Two-factor authentication is already on.');
  }
}

/** A second factor that is to be changed or turned off is off already: on a page, by another window meanwhile. */
export class SecondFactorIsOff extends AppError {
  constructor() {
    super('conflict', 'Two-factor authentication is off for this account.');
  }
}
