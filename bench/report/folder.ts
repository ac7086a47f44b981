// Writes results down.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from './result.ts';

/** Where results go unless told otherwise; ignored by git. */
export const USUAL_FOLDER = join(import.meta.dirname, '../results');

/** @returns the file's path */
export function writeResult(folder: string, result: Result): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${result.startedAt.replaceAll(':', '-')}.json`);
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
  return file;
}
