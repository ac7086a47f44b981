import type { ProtocolId } from '../../protocols/contract/index.js';

/** A model that the reader can call. */
export interface Reachable {
  readonly name: string;
  /** The dialects that its upstreams speak. */
  readonly protocols: readonly ProtocolId[];
  /** It answers in every other dialect too: calls are translated. */
  readonly translates: boolean;
}

interface CodeBlock {
  /** What it is, for who hears it and for its copy button. */
  readonly label: string;
  /** Where it goes, when that is not the shell: `~/.codex/config.toml`. */
  readonly file?: string;
  readonly code: readonly CodePiece[];
}

/** One client. */
export interface ClientTab {
  readonly label: string;
  readonly blocks: readonly CodeBlock[];
  /** Manual steps in order; `code` ends the line. */
  readonly steps?: readonly { readonly text: string; readonly code?: string }[];
  /** What else there is to know; in place of everything when the client cannot be used. */
  readonly note?: string;
}

/** What a client speaks: at least one, the best first. */
type ProtocolSet = readonly [ProtocolId, ...ProtocolId[]];

/** Whatever there is to say to a client. */
export interface Told {
  readonly baseUrl: string;
  /**
   * A model and the protocol to call it with: the first model whose upstream natively supports one of the protocols,
   * in order of preference; otherwise the first model that is translated.
   */
  readonly modelIn: (...protocols: ProtocolSet) => { readonly name: string; readonly protocol: ProtocolId } | undefined;
}

export const block = (label: string, language: Language, code: string, file?: string): CodeBlock => ({
  label,
  code: highlighted(code, language),
  ...(file !== undefined && { file }),
});

/** A client that no available model supports. */
export const unusable = (label: string): ClientTab => ({
  label,
  blocks: [],
  note: `No available model supports ${label} yet.`,
});

/** Where every snippet looks for the key. */
export const KEY_VARIABLE = 'SWITCHBOARD_API_KEY';

/** Reads the key interactively, so that it does not end up in the shell history. */
export const STORE_KEY = `read -rs ${KEY_VARIABLE} && export ${KEY_VARIABLE}`;

/** A word for a shell, whatever is in it. */
export const shellWord = (text: string): string => (/^[\w./:@=-]+$/.test(text) ? text : quotedForShell(text));

const quotedForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A string of Python, JavaScript and TOML alike. */
export const literal = (text: string): string => JSON.stringify(text);

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

const QUESTION = 'Say hello';

/** What is asked in each dialect, and where. */
const CALLS: Readonly<Record<string, { readonly path: string; readonly body: (model: string) => object }>> = {
  responses: { path: '/v1/responses', body: (model) => ({ model, input: QUESTION }) },
  'chat-completions': { path: '/v1/chat/completions', body: (model) => ({ model, messages: messages() }) },
  messages: { path: '/v1/messages', body: (model) => ({ model, max_tokens: 200, messages: messages() }) },
};

const messages = (): object[] => [{ role: 'user', content: QUESTION }];

/** One call by curl in a dialect; undefined for a dialect that this text does not know. */
export function sampleCall(protocol: ProtocolId, model: string, baseUrl: string): string | undefined {
  const call = CALLS[protocol];
  if (call === undefined) return undefined;
  // No --json: many machines have a curl that is too old for it, and here a body is JSON whatever it is called.
  return [
    `curl ${baseUrl}${call.path} \\`,
    `  -H "Authorization: Bearer $${KEY_VARIABLE}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d ${quotedForShell(onOneLine(call.body(model)))}`,
  ].join('\n');
}

/** JSON with blanks where people put them; a string never has a line break in it. */
const onOneLine = (value: object): string =>
  JSON.stringify(value, null, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll(/([[{]) | ([\]}])/g, '$1$2');
