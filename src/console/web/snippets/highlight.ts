/** `toml` has no keywords; `text` nothing at all. */
export type Language = 'shell' | 'python' | 'javascript' | 'toml';

/** Code to be shown: k keyword, s string, c comment. */
export interface CodePiece {
  readonly text: string;
  readonly kind?: 'k' | 's' | 'c';
}

const STRINGS = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
/** Single quotes of a shell know no escapes, and span lines. */
const SHELL_STRINGS = String.raw`"(?:[^"\\]|\\.)*"|'[^']*'`;

const PATTERNS: Readonly<Record<Language, RegExp>> = {
  shell: new RegExp(String.raw`(?<s>${SHELL_STRINGS})|(?<c>(?<=^|\s)#.*)|(?<k>\bexport\b)`, 'gm'),
  python: new RegExp(String.raw`(?<s>${STRINGS})|(?<c>#.*)|(?<k>\b(?:import|from)\b)`, 'g'),
  javascript: new RegExp(String.raw`(?<s>${STRINGS})|(?<c>//.*)|(?<k>\b(?:import|from|const|new|await|for|of)\b)`, 'g'),
  toml: new RegExp(String.raw`(?<s>${STRINGS})|(?<c>#.*)`, 'g'),
};

/** The pieces make up the code again, every character of it. */
export function highlighted(code: string, language: Language): readonly CodePiece[] {
  const pieces: CodePiece[] = [];
  let end = 0;
  for (const match of code.matchAll(PATTERNS[language])) {
    if (match.index > end) pieces.push({ text: code.slice(end, match.index) });
    pieces.push({ text: match[0], kind: kindOf(match.groups ?? {}) });
    end = match.index + match[0].length;
  }
  return end < code.length ? [...pieces, { text: code.slice(end) }] : pieces;
}

const kindOf = ({ s, c }: Readonly<Record<string, string | undefined>>): 'k' | 's' | 'c' => {
  if (s !== undefined) return 's';
  return c === undefined ? 'k' : 'c';
};
