/**
 * Finds members by name in unparsed JSON: meters see every event of every stream. Quotes inside strings are escaped, so
 * a quoted name before a colon is always a member. Create once, not per event.
 */
export class MemberFinder {
  readonly #pattern: RegExp;

  constructor(...names: readonly string[]) {
    this.#pattern = new RegExp(`"(?:${names.join('|')})"\\s*:\\s*`, 'g');
  }

  /** Start of the next member's value at any depth; -1 if none. */
  valueAt(text: string, from = 0): number {
    this.#pattern.lastIndex = from;
    return this.#pattern.test(text) ? this.#pattern.lastIndex : -1;
  }

  /** Whether a value other than null exists. */
  hasValue(text: string): boolean {
    for (let at = this.valueAt(text); at !== -1; at = this.valueAt(text, at)) {
      if (!text.startsWith('null', at)) return true;
    }
    return false;
  }

  /**
   * All string values, concatenated. A string under two names counts once.
   * @param text Latin-1: one character per byte
   */
  stringsIn(text: string, from = 0): string {
    let found = '';
    let last = '';
    for (let at = this.valueAt(text, from); at !== -1; at = this.valueAt(text, at)) {
      if (text[at] !== '"') continue;
      const string = text.slice(at + 1, stringEnd(text, at + 1));
      if (string !== last) found += decoded(string);
      last = string;
    }
    return found;
  }
}

const PLAIN = /^[^\\\x80-\xff]*$/;

/** As is if it cannot be decoded. */
function decoded(string: string): string {
  if (PLAIN.test(string)) return string;
  const text = Buffer.from(string, 'latin1').toString('utf8');
  if (!text.includes('\\')) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
  return text.length;
}
