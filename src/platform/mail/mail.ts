import { AppError } from '../shared/index.js';

/** A message to one person, in both forms. */
export interface Mail {
  /** One address without a name; nothing in it is taken for a list. */
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** What stands in a header must not be able to begin another one. */
const ONE_LINE = /^[^\p{Cc}\u2028\u2029]+$/u;
const ONE_ADDRESS = /^[^\s\p{Cc}<>,;:"()[\]\\]+@[^\s\p{Cc}<>,;:"()[\]\\@]+$/u;

/** @throws AppError when a header of it could hold more than it says */
export function checkMail({ to, subject }: Mail): void {
  if (!ONE_ADDRESS.test(to)) throw new AppError('internal', 'Invalid recipient address.');
  if (!ONE_LINE.test(subject)) throw new AppError('internal', 'The email subject contains a line break.');
}
