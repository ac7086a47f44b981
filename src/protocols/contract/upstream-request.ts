import { AppError, type ErrorDetails, type ErrorKind, type JsonObject } from '../../platform/shared/index.js';
import { type JsonEdit, type SealedReader, sealEdits, SplicedBody } from './call-body.js';
import { type Call, headerOf } from './call.js';

/** The target of a call. */
export interface UpstreamTarget {
  readonly model: string;
  /** Max output tokens per choice that wallet and key can afford; undefined: the call's own limit applies. */
  readonly outputLimit: number | undefined;
  /** The model's capabilities overridden by the channel's flags. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** Whether to stream; the client's form may differ. */
  readonly stream: boolean;
  readonly maxOutputTokens: number;
  /** Whether the upstream may store the response; false for keys without storage. */
  readonly mayStore: boolean;
  /** Upstream names of other models named by the request; absent: none. */
  readonly namedModels?: ReadonlyMap<string, string> | undefined;
  /** The complete input as JSON, in place of references to what is stored here. */
  readonly input?: string | undefined;
  /** Sources of reasoning signatures that it accepts. */
  readonly family: string;
}

/** A request without address and credentials, which the channel adds. */
export interface UpstreamRequest {
  /** Relative to the base URL: `/chat/completions`. */
  readonly path: string;
  /** Added to the channel's query; without the question mark; may be empty. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: SplicedBody;
  /** Default: `POST`; others have no body. */
  readonly method?: 'GET' | 'DELETE';
  /** Stop sequences sent, from the first; the others are enforced in the response. */
  readonly stopSequencesSent?: number;
}

/** An upstream's rejection of the request itself. Keeps its code, on which clients of the same protocol may act. */
export class UpstreamRefusal extends AppError {
  constructor(
    kind: ErrorKind,
    message: string,
    details: ErrorDetails,
    /** Code in the upstream's protocol: `previous_response_not_found`. Undefined if none. */
    readonly code: string | undefined,
  ) {
    super(kind, message, details);
  }
}

/**
 * Replaces model names by the upstream's, and removes reasoning sealed for other upstreams, which this one would
 * reject.
 * @param readSealed writes sealed compactions as text
 */
export function commonEdits(
  { head: { model, fields, demands }, body }: Call,
  target: Pick<UpstreamTarget, 'model' | 'namedModels' | 'input'>,
  readSealed?: SealedReader,
): readonly JsonEdit[] {
  const renamed = model === target.model ? [] : [fields.assign('model', JSON.stringify(target.model))];
  const others = (demands?.models ?? []).map(({ name, field: { start, end } }) => ({
    start,
    end,
    text: JSON.stringify(target.namedModels?.get(name) ?? name),
  }));
  // A complete input replaces that of the body.
  const sealed = target.input === undefined ? sealEdits(body.bytes, fields.sealed, readSealed) : [];
  return [...renamed, ...others, ...sealed];
}

export const jsonHeaders = (stream: boolean): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  accept: stream ? 'text/event-stream' : 'application/json',
});

/**
 * Adds the named client headers; nothing else is forwarded. The client's Accept is ignored: SDKs ask for JSON when they
 * stream.
 */
export function upstreamHeaders({ head, request }: Call, ...forwarded: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = { ...jsonHeaders(head.stream) };
  for (const name of forwarded) {
    const value = headerOf(request, name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** The minimal request for a probe. */
export const jsonProbe = (
  path: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): UpstreamRequest => ({
  path,
  query: '',
  headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
  body: new SplicedBody({ bytes: Buffer.from(JSON.stringify(body)) }),
});
