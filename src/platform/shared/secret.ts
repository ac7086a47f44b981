import { inspect } from 'node:util';

/** A value that must not be printed: logs, JSON and templates show `[secret]`. Ask for it by name with `reveal()`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

const KEY = /(?<![A-Za-z0-9])sk-[^\s"'…].{7,}$/s;

/** A path, query or message without the API key in it, percent-encoded or not; the text ends where the key begins. */
export function maskKeys(text: string): string {
  const masked = text.replace(KEY, 'sk-…');
  if (masked !== text || !text.includes('%')) return masked;
  const decoded = text.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return KEY.test(decoded) ? decoded.replace(KEY, 'sk-…') : text;
}
