import { readFileSync } from 'node:fs';
import { codeOf, isJsonObject, type JsonObject } from '../../shared/index.js';

/** The object in a JSON file; undefined if there is no file or no object in it. Other read errors throw. */
export function readJsonFile(file: string): JsonObject | undefined {
  const text = readIfThere(file);
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
