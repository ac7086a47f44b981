import { Injectable } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Buffer } from 'node:buffer';
import { AppError, type ErrorDetails, type ErrorKind, monotonicMs } from '../platform/shared/index.js';
import {
  type Call,
  type CallContent,
  type FinishedCompaction,
  isTreeObject,
  type JsonTree,
  type ResponseReferences,
  type OpaqueReasoning,
  parseJsonTree,
  type ProtocolAdapter,
  RawJson,
  type Tool,
  TranslationWarnings,
  type TreeObject,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
  writeJson,
} from '../protocols/contract/index.js';
import { type FoundResponses, PreviousResponses } from './state-access.js';
import { CallTranslation, type CompactionStep } from './call-translation.js';

// Work of the translation thread on requests too large to parse beside running streams. Inputs and outputs are plain
// values, copied between threads.

/** `names`: finds references to earlier responses. `expand`: checks that all of them exist. */
export type TranslationTask =
  | { readonly kind: 'names' }
  | { readonly kind: 'expand' }
  | {
      readonly kind: 'build';
      readonly upstream: string;
      readonly target: UpstreamTarget;
      /** Reject rather than lose content. */
      readonly strict: boolean;
      /** The input is needed to store the response. */
      readonly storesInput: boolean;
      /** Set if the conversation was compacted. */
      readonly finished: FinishedCompaction | undefined;
    };

export type TranslationJob = TranslationTask & {
  readonly call: Pick<Call, 'id' | 'createdAt' | 'protocol' | 'request' | 'transport' | 'ip'>;
  readonly body: Uint8Array;
  /** The earlier responses it refers to. */
  readonly found: FoundResponses | undefined;
};

/** A built upstream request, and what is needed to read its response. */
export interface BuiltRequest {
  readonly request: Omit<UpstreamRequest, 'body'>;
  readonly body: Uint8Array;
  readonly warnings: readonly string[];
  /** Without the conversation. */
  readonly content: CallContent;
  /** The client's request, likewise. */
  readonly shown: TreeObject;
  /** Undefined if not needed or too long to store. */
  readonly input: string | undefined;
  readonly compaction: CompactionStep;
}

export type TranslationReply =
  | { readonly named: ResponseReferences }
  | { readonly built: BuiltRequest }
  | { readonly done: true }
  | { readonly error: CopiedError }
  /** The thread does not know one of the protocols. */
  | { readonly isUnknown: true };

interface CopiedError {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly details: ErrorDetails;
  readonly wireDetails: unknown;
  /** For the log, if the error was unexpected. */
  readonly cause: string | undefined;
}

/** Dependencies of a job on its process. */
interface TranslationTools {
  clientAdapter(id: string): ProtocolAdapter | undefined;
  upstreamAdapter(id: string): UpstreamAdapter | undefined;
  readonly unseal: (text: string) => OpaqueReasoning | undefined;
}

/**
 * Max JSON values and characters to copy back beside the conversation (tools, settings), since copying is done in one
 * go.
 */
const MAX_CONTENT_VALUES = 32_000;
const MAX_SHOWN_VALUES = 20_000;
const MAX_COPIED_LENGTH = 8 * 1024 * 1024;
/** Longer input is not stored. */
const MAX_STORED_LENGTH = 16 * 1024 * 1024;
/** Member that marks raw JSON while it is passed between threads. */
const RAW = '\0raw';
/** Members of the request that look like the mark get another NUL. */
const LOOKS_RAW = /^\0+raw$/;

/** Parses a request into a tree. @throws AppError invalid_request when it is not JSON */
export function readTree(body: Buffer, { rawMembers }: ProtocolAdapter): TreeObject {
  try {
    const tree = parseJsonTree(body.toString('utf8'), rawMembers);
    if (isTreeObject(tree)) return tree;
  } catch {
    // The scanner checked only what it needed.
  }
  throw new AppError('invalid_request', 'The body is not valid JSON, or is nested too deeply.');
}

/** Runs a job in the thread. Never throws. */
export function doJob(job: TranslationJob, tools: TranslationTools): TranslationReply {
  try {
    const requestAdapter = tools.clientAdapter(job.call.protocol);
    const upstream = job.kind === 'build' ? tools.upstreamAdapter(job.upstream) : undefined;
    if (requestAdapter === undefined || (job.kind === 'build' && upstream === undefined)) return { isUnknown: true };
    const bytes = Buffer.from(job.body.buffer, job.body.byteOffset, job.body.byteLength);
    const tree = readTree(bytes, requestAdapter);
    if (job.kind === 'names')
      return { named: requestAdapter.storage?.referencesIn?.(tree) ?? { responseId: undefined, itemIds: [] } };
    const expanded =
      job.found === undefined ? tree : new PreviousResponses(requestAdapter, () => tree, job.found).expanded();
    if (job.kind === 'expand' || upstream === undefined) return { done: true };
    const head = requestAdapter.headReader(job.call.request).end({ bytes });
    const call: Call = { ...job.call, head, body: { bytes } };
    return { built: build({ job, call, requestAdapter, upstream, tree, expanded }, tools) };
  } catch (thrown) {
    return { error: copiedError(AppError.from(thrown)) };
  }
}

interface Building {
  readonly job: TranslationJob & { readonly kind: 'build' };
  readonly call: Call;
  readonly requestAdapter: ProtocolAdapter;
  readonly upstream: UpstreamAdapter;
  readonly tree: TreeObject;
  readonly expanded: TreeObject;
}

function build(
  { job, call, requestAdapter, upstream, tree, expanded }: Building,
  tools: TranslationTools,
): BuiltRequest {
  const warnings = new TranslationWarnings(job.strict);
  const content = requestAdapter.parseRequest(expanded, { call, warnings, unseal: tools.unseal });
  const context = { call, content, request: tree, promptTokens: () => 1, seal: () => '' };
  const opened = new CallTranslation(context, requestAdapter, warnings);
  const translation = job.finished === undefined ? opened : opened.after(job.finished);
  const built = translation.build(upstream, job.target);
  const { body, ...request } = built.request;
  const input =
    job.storesInput && requestAdapter.storage ? writeJson(requestAdapter.storage.inputOf(expanded)) : undefined;
  const { messages: _messages, input: _input, tools: offered, ...others } = tree;
  // Stored responses repeat the tools.
  const repeats = requestAdapter.storage?.kind === 'response';
  const shown = { ...others, tools: !repeats && Array.isArray(offered) ? [] : offered };
  return {
    request,
    body: joined(body.pieces()),
    warnings: built.warnings.names,
    content: packed({ ...content, lead: [], turns: [], tools: content.tools.map(nameOnly) }, MAX_CONTENT_VALUES),
    shown: packed(shown, MAX_SHOWN_VALUES),
    input: input === undefined || input.length > MAX_STORED_LENGTH ? undefined : input,
    compaction: translation.compaction,
  };
}

/** In a buffer of its own, which can be transferred. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  const whole = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
  return whole.byteLength === whole.buffer.byteLength ? whole : new Uint8Array(whole);
}

/** The context in which responses are read. */
const nameOnly = ({ name, namespace, freeform, builtIn, path }: Tool): Tool => ({
  name,
  namespace,
  builtIn,
  schema: undefined,
  path,
  ...(freeform && { freeform }),
});

/** Replaces raw objects by marked ones. @throws AppError invalid_request when there is too much to copy */
function packed<Value extends object>(value: Value, maxValues: number): Value {
  let values = 0;
  let length = 0;
  const pack = (one: unknown): unknown => {
    if (one !== undefined) values += 1;
    if (typeof one === 'string') length += one.length;
    if (one instanceof RawJson) length += one.text.length;
    if (values > maxValues || length > MAX_COPIED_LENGTH) throw tooMuchToCopy(maxValues);
    if (one instanceof RawJson) return { [RAW]: one.text };
    return mapped(one, pack, (name) => (LOOKS_RAW.test(name) ? `\0${name}` : name));
  };
  return pack(value) as Value;
}

/** Reverses `packed`. */
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

const tooMuchToCopy = (maxValues: number): AppError =>
  new AppError(
    'invalid_request',
    `tools: requests to this model are translated; their tools and settings are limited to ${maxValues} JSON values and ${MAX_COPIED_LENGTH} characters.`,
    { param: 'tools', fault: 'invalid_value' },
  );

const copiedError = (error: AppError): CopiedError => ({
  kind: error.kind,
  message: error.message,
  details: error.details,
  wireDetails: 'wireDetails' in error ? error.wireDetails : undefined,
  cause: error.cause instanceof Error ? error.cause.stack : undefined,
});

/** An error raised in the thread. */
export class TranslationError extends AppError {
  /** As the protocol renders it. */
  readonly wireDetails: unknown;

  constructor({ kind, message, details, wireDetails, cause }: CopiedError) {
    super(kind, message, details, cause === undefined ? undefined : { cause });
    this.wireDetails = wireDetails;
  }
}

/** Max work per event loop turn, for all calls together. */
const TURN_MS = 2;

/**
 * Processes large bodies in slices, a few milliseconds per event loop turn and first come, first served, so that
 * running streams are never delayed by more than that.
 */
@Injectable()
export class TimeSlicer {
  private waiting: (() => void)[] = [];
  private scheduled = false;

  /** Queues a slice, which must take well below a millisecond and not throw. */
  take(slice: () => void): void {
    // Runs in the async context of its own call.
    this.waiting.push(AsyncLocalStorage.bind(slice));
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.run());
  }

  private run(): void {
    this.scheduled = false;
    const untilMs = monotonicMs() + TURN_MS;
    let done = 0;
    // Slices added meanwhile wait for the next turn.
    try {
      while (done < this.waiting.length && (done === 0 || monotonicMs() < untilMs)) this.waiting[done++]?.();
    } finally {
      // A slice that throws anyway neither runs again nor blocks others.
      this.waiting = this.waiting.slice(done);
      if (this.waiting.length > 0) this.schedule();
    }
  }
}
