import type { JsonObject } from '../../platform/shared/index.js';

/**
 * The demo model: its text and token counts, independent of wire formats. The `*.protocol.ts` files read questions and
 * render responses.
 */

/** The parts of a request that the model reads. */
export interface DemoRequest {
  /** Any name is accepted and repeated in the response. */
  readonly model: string;
  readonly stream: boolean;
  /** Max completion tokens; undefined: no limit. */
  readonly outputLimit: number | undefined;
  /** All texts of the prompt, for counting. */
  readonly prompt: readonly string[];
  /** Text of the last user message; empty if there is none. */
  readonly lastUserText: string;
}

/** A response, equal in all protocols. Each piece is one token, so `completionTokens` is their number. */
export interface DemoResponse {
  readonly pieces: readonly string[];
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** `length` if the output limit cut the text. */
  readonly stop: 'end' | 'length';
}

const CHARACTERS_PER_TOKEN = 4;
const MAX_QUOTE_CHARACTERS = 60;

/**
 * One token per four characters (code points), rounded up. No vendor counts like this, but it is deterministic and
 * sufficient for a demo.
 */
function countTokens(text: string): number {
  let characters = 0;
  for (const _character of text) characters += 1;
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Tokens of a whole prompt; at least 1, because no vendor reports an empty prompt. */
export function countPromptTokens(prompt: readonly string[]): number {
  return Math.max(
    1,
    prompt.reduce((sum, text) => sum + countTokens(text), 0),
  );
}

/** Responds to a question: greets, quotes it, explains how to connect a real model; respects the output limit. */
export function respondTo(question: DemoRequest): DemoResponse {
  const whole = splitIntoTokens(composeText(question.lastUserText));
  const pieces = whole.slice(0, question.outputLimit ?? whole.length);
  return {
    pieces,
    promptTokens: countPromptTokens(question.prompt),
    completionTokens: pieces.length,
    stop: pieces.length < whole.length ? 'length' : 'end',
  };
}

function composeText(lastUserText: string): string {
  const quote = beginningOf(lastUserText);
  return [
    "Hello! This is Switchboard's built-in demo model, so your key and your client work.",
    ...(quote === '' ? [] : [`You wrote: “${quote}”.`]),
    'To connect a real model, the administrator adds it and a channel on the page /admin, or runs `npm run -s switchboard -- catalog apply examples/openai.yaml`.',
  ].join(' ');
}

/** The first words of a text on one line, with an ellipsis where it was cut. */
function beginningOf(text: string): string {
  // Bounded, since the message may be megabytes long.
  const characters = Array.from(
    text
      .slice(0, MAX_QUOTE_CHARACTERS * 8)
      .replace(/\s+/gu, ' ')
      .trim(),
  );
  if (characters.length <= MAX_QUOTE_CHARACTERS) return characters.join('');
  return `${characters.slice(0, MAX_QUOTE_CHARACTERS).join('').trimEnd()}…`;
}

/** Cuts a text into the pieces that {@link countTokens} counts; never inside a character. */
function splitIntoTokens(text: string): string[] {
  return text.match(/.{1,4}/gsu) ?? [];
}

/** A rejected request, and the error form shared by Responses and Chat Completions. */

interface RefusalDetails {
  /** HTTP status; 400 unless given. */
  readonly status?: number;
  /** The offending field, as the caller wrote it. */
  readonly param?: string;
  readonly code?: string;
}

/** Not an AppError: like any other upstream, its errors must reach the relay as a status and a body. */
export class DemoRefusal extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(message: string, details: RefusalDetails = {}) {
    super(message);
    this.name = 'DemoRefusal';
    this.status = details.status ?? 400;
    this.param = details.param ?? null;
    this.code = details.code ?? null;
  }
}

/** `{error: {message, type, param, code}}`, all four always present. */
export function renderOpenAiError(refusal: DemoRefusal): JsonObject {
  const type = refusal.status >= 500 ? 'server_error' : 'invalid_request_error';
  return { error: { message: refusal.message, type, param: refusal.param, code: refusal.code } };
}

/** Requirements of the demo server for a protocol, and shared event framing. */

/** An accepted request with its complete response. */
export interface DemoCall {
  /** 32 hexadecimal digits, unique; protocols add their prefixes. */
  readonly id: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly body: JsonObject;
  readonly question: DemoRequest;
  readonly response: DemoResponse;
}

/** A streamed response as encoded events. The server waits before every element of `pieces`. */
export interface DemoStream {
  readonly opening: readonly string[];
  /** One event per piece. */
  readonly pieces: readonly string[];
  readonly closing: readonly string[];
}

/** One wire format. Pure: no clock, no randomness, no I/O. */
export interface DemoProtocol {
  /** @throws DemoRefusal naming the field that is missing or malformed. */
  parseRequest(body: JsonObject): DemoRequest;
  renderResponse(call: DemoCall): JsonObject;
  renderStream(call: DemoCall): DemoStream;
  renderRefusal(refusal: DemoRefusal, requestId: string): JsonObject;
}

/** Encodes one server-sent event: LF only, one data line, blank line included. */
export function encodeEvent(data: JsonObject | string, event?: string): string {
  const payload = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${payload}\n\n`;
}
