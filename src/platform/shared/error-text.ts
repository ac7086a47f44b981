import { isJsonObject } from './json.js';

/** The message of anything thrown, in one line. Of several failures in one (a host with many addresses), the first. */
export function reasonOf(thrown: unknown): string {
  if (!isJsonObject(thrown)) return String(thrown);
  const { message, errors, name } = thrown;
  if (!message && Array.isArray(errors)) return reasonOf(errors[0]);
  return String(message || name)
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ');
}

/** The code that Node or PostgreSQL gave an error; empty when it has none. */
export function codeOf(thrown: unknown): string {
  return isJsonObject(thrown) && typeof thrown['code'] === 'string' ? thrown['code'] : '';
}
