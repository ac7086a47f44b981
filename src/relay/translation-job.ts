import { Buffer } from 'node:buffer';
import {
  type Call,
  type CallContent,
  isTreeObject,
  type JsonTree,
  TranslationWarnings,
  type NamedResponses,
  type OpaqueReasoning,
  type ProtocolAdapter,
  parseJsonTree,
  RawJson,
  type TreeObject,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
  writeJson,
} from '../protocols/contract/index.js';
import { AppError, type ErrorDetails, type ErrorKind } from '../platform/shared/index.js';
import { type Found, PreviousResponses } from './previous-responses.js';
import { Translation } from './translation.js';

// What a thread of its own does with a request that is too large to be parsed beside others' streams. Plain values go in
// and come out, as they are copied between threads.

/** `names`: earlier responses that it names. `expand`: only whether all of these are there. */
export type TranslationTask =
  | { readonly does: 'names' }
  | { readonly does: 'expand' }
  | {
      readonly does: 'build';
      readonly upstream: string;
      readonly target: UpstreamTarget;
      /** The key wants to be refused rather than to lose anything. */
      readonly strict: boolean;
      /** All input is wanted as well, so that the response can be kept. */
      readonly keepsInput: boolean;
    };

export type TranslationJob = TranslationTask & {
  readonly call: Pick<Call, 'id' | 'createdAt' | 'protocol' | 'request' | 'ip'>;
  readonly body: Uint8Array;
  /** The earlier responses that it names. */
  readonly found: Found | undefined;
};

/** A request for an upstream, and what must be known to read its response. */
export interface BuiltRequest {
  readonly request: Omit<UpstreamRequest, 'body'>;
  readonly body: Uint8Array;
  readonly losses: readonly string[];
  /** Without the conversation. */
  readonly content: CallContent;
  /** The client's request, likewise. */
  readonly shown: TreeObject;
  /** Undefined when it is not wanted, or too long to be kept. */
  readonly input: string | undefined;
}

export type TranslationReply =
  | { readonly named: NamedResponses }
  | { readonly built: BuiltRequest }
  | { readonly done: true }
  | { readonly error: CopiedError }
  /** One of the protocols is not known in the thread. */
  | { readonly isUnknown: true };

interface CopiedError {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly details: ErrorDetails;
  readonly wireDetails: unknown;
  /** Of an error that was not raised on purpose, for the log. */
  readonly cause: string | undefined;
}

/** What a job needs of the process. */
export interface TranslationTools {
  protocol(id: string): ProtocolAdapter | undefined;
  upstream(id: string): UpstreamAdapter | undefined;
  readonly unseal: (text: string) => OpaqueReasoning | undefined;
}

/**
 * Beside its conversation a request has tools and settings. What of them is copied back is copied in one go: JSON values
 * that responses are read with, those that they repeat, and characters of either.
 */
const MAX_CONTENT_VALUES = 32_000;
const MAX_SHOWN_VALUES = 20_000;
const MAX_BESIDE_LENGTH = 8 * 1024 * 1024;
/** Longer input is not kept. */
const MAX_STORED_LENGTH = 16 * 1024 * 1024;
/** The member that marks raw JSON text while it passes between threads. */
const RAW = '\0raw';
/** A member of the request that looks like it has one more NUL meanwhile. */
const LOOKS_RAW = /^\0+raw$/;

/** A request as a tree. @throws AppError invalid_request when it is no JSON after all */
export function readTree(body: Buffer, { rawMembers }: ProtocolAdapter): TreeObject {
  try {
    const tree = parseJsonTree(body.toString('utf8'), rawMembers);
    if (isTreeObject(tree)) return tree;
  } catch {
    // The scanner looks at what it needs; the rest of the grammar is looked at here.
  }
  throw new AppError('invalid_request', 'The body is not valid JSON, or is nested too deeply.');
}

/** Does a job, in the thread. Never throws. */
export function doJob(job: TranslationJob, tools: TranslationTools): TranslationReply {
  try {
    const protocol = tools.protocol(job.call.protocol);
    const upstream = job.does === 'build' ? tools.upstream(job.upstream) : undefined;
    if (protocol === undefined || (job.does === 'build' && upstream === undefined)) return { isUnknown: true };
    const bytes = Buffer.from(job.body.buffer, job.body.byteOffset, job.body.byteLength);
    const tree = readTree(bytes, protocol);
    if (job.does === 'names') return { named: protocol.storage?.named(tree) ?? { answerId: undefined, itemIds: [] } };
    const expanded = job.found === undefined ? tree : new PreviousResponses(protocol, () => tree, job.found).expanded();
    if (job.does === 'expand' || upstream === undefined) return { done: true };
    const head = protocol.headReader(job.call.request).end({ bytes });
    const call: Call = { ...job.call, head, body: { bytes } };
    return { built: build({ job, call, protocol, upstream, tree, expanded }, tools) };
  } catch (thrown) {
    return { error: copyOf(AppError.from(thrown)) };
  }
}

interface Building {
  readonly job: TranslationJob & { readonly does: 'build' };
  readonly call: Call;
  readonly protocol: ProtocolAdapter;
  readonly upstream: UpstreamAdapter;
  readonly tree: TreeObject;
  readonly expanded: TreeObject;
}

function build({ job, call, protocol, upstream, tree, expanded }: Building, tools: TranslationTools): BuiltRequest {
  const losses = new TranslationWarnings(job.strict);
  const content = protocol.parseRequest(expanded, { call, losses, unseal: tools.unseal });
  const context = { call, content, request: tree, promptTokens: () => 1, seal: () => '' };
  const built = new Translation(context, protocol, losses).build(upstream, job.target);
  const { body, ...request } = built.request;
  const input = job.keepsInput && protocol.storage ? writeJson(protocol.storage.inputOf(expanded)) : undefined;
  const { messages: _messages, input: _input, tools: offered, ...others } = tree;
  // Where responses can be kept, they repeat the tools.
  const shown = { ...others, tools: protocol.storage === undefined && Array.isArray(offered) ? [] : offered };
  return {
    request,
    body: wholeOf(body.pieces()),
    losses: built.losses.names,
    content: packed({ ...content, lead: [], turns: [], tools: content.tools.map(nameOnly) }, MAX_CONTENT_VALUES),
    shown: packed(shown, MAX_SHOWN_VALUES),
    input: input === undefined || input.length > MAX_STORED_LENGTH ? undefined : input,
  };
}

/** In memory of its own, which can be handed to another thread. */
function wholeOf(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  const whole = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
  return whole.byteLength === whole.buffer.byteLength ? whole : new Uint8Array(whole);
}

/** All that responses are read with. */
const nameOnly = ({ name, namespace, freeform, path }: CallContent['tools'][number]): CallContent['tools'][number] => ({
  name,
  namespace,
  schema: undefined,
  path,
  ...(freeform && { freeform }),
});

/** The same with marks in place of raw objects. @throws AppError invalid_request when it is too much to be copied */
function packed<Value extends object>(value: Value, maxValues: number): Value {
  let values = 0;
  let length = 0;
  const pack = (one: unknown): unknown => {
    if (one !== undefined) values += 1;
    if (typeof one === 'string') length += one.length;
    if (one instanceof RawJson) length += one.text.length;
    if (values > maxValues || length > MAX_BESIDE_LENGTH) throw tooMuchBeside(maxValues);
    if (one instanceof RawJson) return { [RAW]: one.text };
    return mapped(one, pack, (name) => (LOOKS_RAW.test(name) ? `\0${name}` : name));
  };
  return pack(value) as Value;
}

/** The opposite of `packed`. */
export function unpacked<Value extends object>(value: Value): Value {
  const unpack = (one: unknown): unknown => {
    const raw = typeof one === 'object' && one !== null ? (one as { [RAW]?: unknown })[RAW] : undefined;
    return typeof raw === 'string'
      ? new RawJson(raw)
      : mapped(one, unpack, (name) => (LOOKS_RAW.test(name) ? name.slice(1) : name));
  };
  return unpack(value) as Value;
}

function mapped(value: unknown, map: (one: unknown) => unknown, nameOf: (name: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(map);
  const members = Object.entries(value as Record<string, JsonTree>);
  return Object.fromEntries(members.map(([name, one]) => [nameOf(name), map(one)]));
}

const tooMuchBeside = (maxValues: number): AppError =>
  new AppError(
    'invalid_request',
    `tools: this model is translated; the tools and settings of a request are limited to ${maxValues} JSON values and ${MAX_BESIDE_LENGTH} characters.`,
    { param: 'tools', fault: 'invalid_value' },
  );

const copyOf = (error: AppError): CopiedError => ({
  kind: error.kind,
  message: error.message,
  details: error.details,
  wireDetails: 'wireDetails' in error ? error.wireDetails : undefined,
  cause: error.cause instanceof Error ? error.cause.stack : undefined,
});

/** An error that was raised in the thread. */
export class TranslationError extends AppError {
  /** As the protocol shows it. */
  readonly wireDetails: unknown;

  constructor({ kind, message, details, wireDetails, cause }: CopiedError) {
    super(kind, message, details, cause === undefined ? undefined : { cause });
    this.wireDetails = wireDetails;
  }
}
