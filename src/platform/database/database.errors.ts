import { AppError } from '../shared/index.js';

/**
 * The database cannot be used until the administrator acts. The one-line message says how, and is printed without a
 * stack.
 */
export class DatabaseUnusable extends AppError {
  constructor(message: string, cause?: unknown) {
    super('unavailable', message, {}, cause === undefined ? {} : { cause });
  }
}
