import { AppError } from '../../../platform/shared/index.js';
import type { FormBody } from '../../web/index.js';

/** A code as it is shown: groups of four of its letters and digits. */
const CODE = /^[0-9A-Z]{4}(?:-[0-9A-Z]{4}){6}$/;
const MOST = 1000;

/**
 * Codes as a file with one column. They come from the page that showed them, which hands them back, because nobody else
 * knows them any more: so that file needs neither a script nor an address that leads to them.
 * @throws AppError of anything that is no list of codes
 */
export function* codesCsv({ codes }: FormBody): Generator<string, void, void> {
  const lines = typeof codes === 'string' ? codes.split(/\r?\n/).filter((line) => line !== '') : [];
  if (lines.length === 0 || lines.length > MOST || !lines.every((line) => CODE.test(line)))
    throw new AppError('invalid_request', 'These are no codes. Make the file on the page that shows them.');
  yield 'code\r\n';
  for (const line of lines) yield `${line}\r\n`;
}
