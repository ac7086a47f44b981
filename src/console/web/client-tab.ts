import { pathForModel, type ProtocolId } from '../../protocols/contract/index.js';

export interface SnippetModel {
  readonly name: string;
  readonly protocols: readonly ProtocolId[];
  /** Whether calls in other protocols are translated. */
  readonly translates: boolean;
}

interface CodeBlock {
  /** Accessible name, also of the copy button. */
  readonly label: string;
  /** Target file: `~/.codex/config.toml`. Default: the shell. */
  readonly file?: string;
  readonly code: readonly CodePiece[];
}

/** Setup of a client. */
export interface ClientTab {
  readonly label: string;
  readonly blocks: readonly CodeBlock[];
  /** Manual steps in order; `code` ends the line. */
  readonly steps?: readonly { readonly text: string; readonly code?: string }[];
  /** Additional note, or why the client cannot be used. */
  readonly note?: string;
}

/** In order of preference. */
export type ProtocolSet = readonly [ProtocolId, ...ProtocolId[]];

export const block = (label: string, language: Language, code: string, file?: string): CodeBlock => ({
  label,
  code: highlighted(code, language),
  ...(file !== undefined && { file }),
});

export const KEY_VARIABLE = 'SWITCHBOARD_API_KEY';

/** Reads the key interactively, so that it does not end up in the shell history. */
export const STORE_KEY = `read -rs ${KEY_VARIABLE} && export ${KEY_VARIABLE}`;

/** Quotes text for a shell if necessary. */
export const shellWord = (text: string): string => (/^[\w./:@=-]+$/.test(text) ? text : quotedForShell(text));

const quotedForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A string literal in Python, JavaScript and TOML. */
export const literal = (text: string): string => JSON.stringify(text);

type Language = 'shell' | 'python' | 'javascript' | 'toml';

export interface CodePiece {
  readonly text: string;
  /** Keyword, string or comment. */
  readonly kind?: 'k' | 's' | 'c';
}

const STRINGS = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
/** Single quotes in a shell have no escapes and may span lines. */
const SHELL_STRINGS = String.raw`"(?:[^"\\]|\\.)*"|'[^']*'`;

const PATTERNS: Readonly<Record<Language, RegExp>> = {
  shell: new RegExp(String.raw`(?<s>${SHELL_STRINGS})|(?<c>(?<=^|\s)#.*)|(?<k>\bexport\b)`, 'gm'),
  python: new RegExp(String.raw`(?<s>${STRINGS})|(?<c>#.*)|(?<k>\b(?:import|from)\b)`, 'g'),
  javascript: new RegExp(String.raw`(?<s>${STRINGS})|(?<c>//.*)|(?<k>\b(?:import|from|const|new|await|for|of)\b)`, 'g'),
  toml: new RegExp(String.raw`(?<s>${STRINGS})|(?<c>#.*)`, 'g'),
};

/** The pieces concatenate to the code. */
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

const PROMPT = 'Say hello';

const CALLS: Readonly<Record<string, { readonly path: string; readonly body: (model: string) => object }>> = {
  responses: { path: '/v1/responses', body: (model) => ({ model, input: PROMPT }) },
  'chat-completions': { path: '/v1/chat/completions', body: (model) => ({ model, messages: messages() }) },
  messages: { path: '/v1/messages', body: (model) => ({ model, max_tokens: 200, messages: messages() }) },
  gemini: {
    path: '/v1beta/models/{model}:generateContent',
    body: () => ({ contents: [{ role: 'user', parts: [{ text: PROMPT }] }] }),
  },
};

const messages = (): object[] => [{ role: 'user', content: PROMPT }];

/** A curl command; undefined for unknown protocols. */
export function sampleCall(protocol: ProtocolId, model: string, baseUrl: string): string | undefined {
  const call = CALLS[protocol];
  return call && curlCommand(baseUrl + pathForModel(call.path, model), { body: onOneLine(call.body(model)) });
}

interface CurlOptions {
  /** Default: POST with a body, else GET. */
  readonly method?: string;
  readonly body?: string;
  /** Prints events as they arrive. */
  readonly isStream?: boolean;
}

/** A curl command with the key from the environment. Without --json, which older versions of curl lack. */
export const curlCommand = (url: string, { method, body, isStream = false }: CurlOptions): string =>
  [
    `curl ${isStream ? '-N ' : ''}${method === undefined ? '' : `-X ${method} `}${shellWord(url)}`,
    `-H "Authorization: Bearer $${KEY_VARIABLE}"`,
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${quotedForShell(body)}`]),
  ].join(' \\\n  ');

type Scalar = (value: unknown) => string;

/** JSON with as much on each line as fits. @param scalar text of a string, number, boolean or null */
export function jsonText(value: unknown, indent = '', scalar: Scalar = JSON.stringify): string {
  const line = onOneLine(value, scalar);
  if (indent.length + line.length <= LINE_WIDTH || typeof value !== 'object' || value === null) return line;
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  const entries = Object.entries(value).map(([name, member]) => {
    const label = isList ? '' : `${JSON.stringify(name)}: `;
    return `${deeper}${label}${jsonText(member, deeper, scalar)}`;
  });
  return `${isList ? '[' : '{'}\n${entries.join(',\n')}\n${indent}${isList ? ']' : '}'}`;
}

const LINE_WIDTH = 76;

/** JSON on one line with spaces after separators. */
function onOneLine(value: unknown, scalar: Scalar = JSON.stringify): string {
  if (Array.isArray(value)) return `[${value.map((item) => onOneLine(item, scalar)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return scalar(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${onOneLine(member, scalar)}`,
  );
  return `{${members.join(', ')}}`;
}
