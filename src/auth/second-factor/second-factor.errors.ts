import { AppError } from '../../platform/shared/index.js';

/** Wrong, of another time, or used before: which of them is not told. */
export class CodeNotAccepted extends AppError {
  constructor() {
    super('invalid_request', 'This code is not valid. Enter the one that the app shows now; each works once.', {
      param: 'code',
    });
  }
}

/** What codes are made from does not open: SECRET_KEY is another one than it was sealed under. */
export class CodesUnreadable extends AppError {
  constructor() {
    super(
      'invalid_request',
      'Codes of apps cannot be checked here any more. Enter a recovery code, or ask the operator to remove your second factor.',
      { param: 'code' },
    );
  }
}

/** A second factor that is to be turned on is on already: on a page, by another window meanwhile. */
export class SecondFactorIsOn extends AppError {
  constructor() {
    super('conflict', 'This account has a second factor already.');
  }
}

/** A second factor that is to be changed or turned off is off already: on a page, by another window meanwhile. */
export class SecondFactorIsOff extends AppError {
  constructor() {
    super('conflict', 'This account has no second factor.');
  }
}
