import { AppError } from '../shared/index.js';

/**
 * The database cannot be used, and the operator must do something about it: the message is one line that says what.
 * Whoever boots the process prints the message alone, without a stack.
 */
export class DatabaseUnusable extends AppError {
  constructor(message: string, cause?: unknown) {
    super('unavailable', message, {}, cause === undefined ? {} : { cause });
  }
}
