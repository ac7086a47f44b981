import { AppError } from '../../shared/index.js';

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

/** To be turned on where it is on: in another window meanwhile, where it is done on a page. */
export class SecondFactorIsOn extends AppError {
  constructor() {
    super('conflict', 'This account has a second factor already.');
  }
}

/** To be changed or turned off where it is off: the same. */
export class SecondFactorIsOff extends AppError {
  constructor() {
    super('conflict', 'This account has no second factor.');
  }
}
