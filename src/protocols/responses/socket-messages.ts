import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type JsonEdit,
  type JsonFields,
  jsonInterests,
  removalEdits,
  renderOpenAiError,
  type SocketArrival,
  splice,
} from '../contract/index.js';

// Messages of the WebSocket mode, from the types of openai 7.57.0 (`ResponsesClientEvent`, `ResponsesServerEvent`).

const PREVIOUS = 'previous_response_id';
const PREWARM = 'prompt_cache_options.prewarm';
/** Members that only messages have, or that a stream implies. */
const TRANSPORT = ['stream_id', 'generate', 'stream'] as const;
export const MESSAGE_MEMBERS = jsonInterests(
  'type',
  'input',
  'background',
  'store',
  'conversation',
  'context_management',
  PREVIOUS,
  PREWARM,
  ...TRANSPORT,
);

export const MAX_STREAM_ID_LENGTH = 256;
/** Larger settings are not copied for a successor. */
const MAX_SETTINGS_BYTES = 256 * 1024;

/** Input in front of a request's own. */
export interface EarlierInput {
  /** Items as JSON, separated by commas. */
  readonly items: string;
  /** Replaces the request's previous response; undefined: there is none. */
  readonly previousId: string | undefined;
}

/** `response.create`: a request body with members for the connection. */
export class CreateMessage {
  readonly streamId: string | undefined;
  readonly previousId: string | undefined;
  /** Nothing is generated: the request's input is only kept. */
  readonly isWarmUp: boolean;
  /** The response is kept with the connection, because nothing else stores it. */
  readonly isKept: boolean;

  /** @throws AppError invalid_request */
  constructor(
    readonly arrival: SocketArrival,
    private readonly bytes: Buffer,
    private readonly fields: JsonFields,
  ) {
    this.streamId = streamIdIn(fields);
    this.previousId = fields.hint(PREVIOUS);
    this.isWarmUp = fields.optionalBoolean('generate') === false || fields.isTrue(PREWARM);
    this.isKept = this.isWarmUp || !arrival.mayStore || fields.optionalBoolean('store') === false;
    if (fields.isTrue('background'))
      throw fields.refusal('background', 'unsupported_parameter', 'not available over WebSocket; use HTTP');
  }

  get size(): number {
    return this.bytes.length;
  }

  /** The body of a streamed request over HTTP. */
  body(earlier: EarlierInput | undefined): Buffer {
    const { fields, bytes } = this;
    const type = fields.place('type') ?? { start: 0, end: 0 };
    const isUnnamed = earlier !== undefined && earlier.previousId === undefined;
    return Buffer.from(
      splice(bytes, [
        { ...type, text: '"stream":true' },
        ...this.removals(...TRANSPORT, ...(isUnnamed ? [PREVIOUS] : [])),
        ...(earlier === undefined ? [] : this.inputEdits(earlier.items)),
        ...(earlier?.previousId === undefined ? [] : [fields.assign(PREVIOUS, JSON.stringify(earlier.previousId))]),
      ]),
    );
  }

  /** Its own input as items, separated by commas; undefined beyond this size. */
  items(maxBytes: number): string | undefined {
    const input = this.fields.field('input');
    if (input === undefined) return '';
    if (input.end - input.start > maxBytes) return undefined;
    if (input.kind === 'string') return userMessage(this.fields.text(input));
    return input.kind === 'array' ? this.fields.text(input).slice(1, -1).trim() : undefined;
  }

  /** All but its input, for a response that follows by itself; undefined if it cannot be steered. */
  settings(): string | undefined {
    const { fields, bytes } = this;
    if (this.isWarmUp || fields.has('conversation') || fields.has('context_management')) return undefined;
    const input = fields.field('input');
    if (bytes.length - (input === undefined ? 0 : input.end - input.start) > MAX_SETTINGS_BYTES) return undefined;
    return Buffer.from(splice(bytes, this.removals('type', 'input', PREVIOUS))).toString('utf8');
  }

  private inputEdits(items: string): readonly JsonEdit[] {
    const input = this.fields.field('input');
    if (items === '') return [];
    if (input?.kind === 'array') {
      const at = input.start + 1;
      const isEmpty = this.bytes.toString('latin1', at, input.end - 1).trim() === '';
      return [{ start: at, end: at, text: isEmpty ? items : `${items},` }];
    }
    const own = input?.kind === 'string' ? `,${userMessage(this.fields.text(input))}` : '';
    return [this.fields.assign('input', `[${items}${own}]`)];
  }

  private removals(...names: readonly string[]): readonly JsonEdit[] {
    const places = names.flatMap((name) => this.fields.place(name) ?? []);
    return removalEdits(
      this.bytes,
      places.toSorted((one, other) => one.start - other.start),
    );
  }
}

/** Undefined if absent. @throws AppError invalid_request */
export const streamIdIn = (fields: JsonFields): string | undefined =>
  fields.optionalString('stream_id', { maxLength: MAX_STREAM_ID_LENGTH });

/** @param text a JSON string */
const userMessage = (text: string): string => `{"type":"message","role":"user","content":${text}}`;

/** Input of the user for a response that is being created. */
export interface Steer {
  /** Of its message, and of the call that it may lead to. */
  readonly arrival: SocketArrival;
  readonly id: string;
  readonly previousId: string;
  /** As sent. */
  readonly input: unknown;
  /** Items as JSON, separated by commas. */
  readonly items: string;
}

const STEER_MEMBERS: ReadonlySet<string> = new Set(['type', PREVIOUS, 'input']);
const STEER_PARTS: ReadonlySet<unknown> = new Set(['input_text', 'input_image', 'input_file']);

/** @throws AppError invalid_request naming the member */
export function steerIn(message: JsonObject, arrival: SocketArrival): Steer {
  const { [PREVIOUS]: previousId, input } = message;
  const other = Object.keys(message).find((name) => !STEER_MEMBERS.has(name));
  if (other !== undefined) throw invalid(other, 'not allowed in response.steer');
  if (typeof previousId !== 'string' || previousId === '') throw invalid(PREVIOUS, 'must be the ID of a response');
  if (typeof input !== 'string' && !isUserInput(input))
    throw invalid('input', 'must be a string, or user messages with text, images or files');
  const items = typeof input === 'string' ? userMessage(JSON.stringify(input)) : JSON.stringify(input).slice(1, -1);
  return { arrival, id: arrival.id.replace(/^req_/, 'steer_'), previousId, input, items };
}

function isUserInput(input: unknown): boolean {
  if (!Array.isArray(input) || input.length === 0) return false;
  return input.every((item: unknown) => {
    if (!isJsonObject(item) || (item['type'] ?? 'message') !== 'message' || item['role'] !== 'user') return false;
    const { content } = item;
    if (typeof content === 'string') return true;
    return (
      Array.isArray(content) && content.every((part: unknown) => isJsonObject(part) && STEER_PARTS.has(part['type']))
    );
  });
}

const invalid = (param: string, what: string): AppError =>
  new AppError('invalid_request', `${param}: ${what}.`, { param });

/**
 * The message for an error, with the headers that an HTTP response would have. Without headers that clients read, only
 * the status tells that a retry is useless: 402 instead of 429.
 */
export function errorText(error: AppError, requestId: string, streamId: string | undefined): string {
  const { status, headers, body } = renderOpenAiError(error, requestId);
  return JSON.stringify({
    type: 'error',
    status: error.kind === 'insufficient_quota' ? 402 : status,
    ...body,
    headers: { ...headers, 'x-request-id': requestId },
    ...(streamId !== undefined && { stream_id: streamId }),
  });
}
