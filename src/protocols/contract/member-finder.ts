/**
 * Finds members by name in JSON text that is not parsed: a meter sees every event of every stream, so it looks before
 * it parses. A quote inside a JSON string is always escaped: a name in quotes with a colon behind it is a member, never
 * a piece of somebody's text. Made once, not once per event.
 */
export class MemberFinder {
  readonly #pattern: RegExp;

  /** @param names any of which is looked for */
  constructor(...names: readonly string[]) {
    this.#pattern = new RegExp(`"(?:${names.join('|')})"\\s*:\\s*`, 'g');
  }

  /** Where the value of the next such member begins, at whatever depth, from a position on; -1 when there is none. */
  valueAt(text: string, from = 0): number {
    this.#pattern.lastIndex = from;
    return this.#pattern.test(text) ? this.#pattern.lastIndex : -1;
  }

  /** True when such a member has a value other than null. */
  hasValue(text: string): boolean {
    for (let at = this.valueAt(text); at !== -1; at = this.valueAt(text, at)) {
      if (!text.startsWith('null', at)) return true;
    }
    return false;
  }

  /**
   * What all values say that are strings, from a position on. One that stands under two names is one text.
   * @param text bytes, one character each
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

/** The text that the bytes between two quotes say; themselves where that cannot be told. */
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

/** The closing quote of a string whose content begins here; the text's end when it is not closed. */
function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
  return text.length;
}
