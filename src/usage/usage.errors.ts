import { AppError, maskKeys } from '../platform/shared/index.js';

/** Also for calls of other accounts, so that their existence is not revealed. */
export class CallNotFound extends AppError {
  /** @param everybodys whether all accounts were searched */
  constructor(id: string, everybodys = false) {
    super(
      'not_found',
      `${everybodys ? 'There is' : 'Your account has'} no call "${maskKeys(id.slice(0, 100))}". The ID is in the x-request-id response header.`,
    );
  }
}

/** Too many calls in the range to read in time. */
export class RangeTooLarge extends AppError {
  constructor(cause?: unknown) {
    super('timeout', 'This range has too many calls to display. Choose a shorter one.', {}, { cause });
  }
}

/** The month cannot be dropped now: its tables are being read, or a late call has arrived. */
export class CallsAreBusy extends AppError {
  constructor() {
    super(
      'unavailable',
      'The partition is in use, possibly by a backup. Retrying tomorrow and whenever the server starts.',
    );
  }
}
