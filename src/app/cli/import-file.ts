import { readFile } from 'node:fs/promises';
import { ImportRefused } from '../../keys/onboarding/index.js';
import { AppError, reasonOf } from '../../platform/shared/index.js';

/**
 * Imports a file, all or nothing. Prints each of several errors on its own line.
 * @throws AppError with the last line to print
 */
export async function importFile<T>(file: string, work: (text: string) => Promise<T>): Promise<T> {
  const text = await readText(file);
  return work(text).catch((error: unknown) => Promise.reject(reportErrors(error, file)));
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AppError('invalid_request', `Cannot read ${file}: ${reasonOf(error)}.`);
  }
}

function reportErrors(error: unknown, file: string): unknown {
  if (!(error instanceof ImportRefused) || error.errors.length === 1) return error;
  for (const line of error.errors) process.stderr.write(`${line}\n`);
  return new AppError('invalid_request', `${file} has ${error.errors.length} errors; nothing was imported.`);
}
