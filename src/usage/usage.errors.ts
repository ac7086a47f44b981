import { AppError, maskKeys } from '../platform/shared/index.js';

/** Says the same of a call that is another account's: that it exists is nobody else's business. */
export class CallNotFound extends AppError {
  /** @param everybodys whether it was looked for among the calls of all accounts */
  constructor(id: string, everybodys = false) {
    super(
      'not_found',
      `${everybodys ? 'There is' : 'Your account has'} no call "${maskKeys(id.slice(0, 100))}". The ID is in the x-request-id response header.`,
    );
  }
}

/** There are so many calls in the range that they cannot be read in time. */
export class RangeTooLarge extends AppError {
  constructor(cause?: unknown) {
    super('timeout', 'This range has too many calls to display. Choose a shorter one.', {}, { cause });
  }
}

/** A month of calls cannot be dropped just now: its tables are read for long, or one of its calls has come in late. */
export class CallsAreBusy extends AppError {
  constructor() {
    super('unavailable', 'The partition is in use, possibly by a backup. Retrying tomorrow and at every start.');
  }
}
