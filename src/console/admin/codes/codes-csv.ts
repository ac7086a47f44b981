import { AppError } from '../../../platform/shared/index.js';
import type { FormBody } from '../../web/index.js';

/** A code as displayed: groups of four letters and digits. */
const CODE = /^[0-9A-Z]{4}(?:-[0-9A-Z]{4}){6}$/;
const MAX = 1000;

/**
 * Codes as a file with one column. The page that shows the codes submits them, because they are not stored in plain
 * text; this needs neither a script nor a URL that leads to them.
 * @throws AppError for anything but a list of codes
 */
export function* codesCsv({ codes }: FormBody): Generator<string, void, void> {
  const lines = typeof codes === 'string' ? codes.split(/\r?\n/).filter((line) => line !== '') : [];
  if (lines.length === 0 || lines.length > MAX || !lines.every((line) => CODE.test(line)))
    throw new AppError(
      'invalid_request',
      'This is not a list of codes. Download the file from the page that shows the codes.',
    );
  yield 'code\r\n';
  for (const line of lines) yield `${line}\r\n`;
}
