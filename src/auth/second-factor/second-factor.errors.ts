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

/** It was turned on, or off, in another window meanwhile. */
export class SecondFactorChangedMeanwhile extends AppError {
  constructor() {
    super('conflict', 'The second factor of this account was changed in another window meanwhile.');
  }
}
