import { catchError, isObservable, map, type Observable, throwError } from 'rxjs';
import { type Channel, upstreamModel } from '../catalog/channels/index.js';
import { AppError } from '../platform/shared/index.js';
import {
  type Call,
  type FinishedCompaction,
  type ProtocolAdapter,
  type ProtocolId,
  TranslationWarnings,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamSocketProtocol,
  type UpstreamTarget,
  type VerbatimLane,
} from '../protocols/contract/index.js';
import type { Admission, Ticket } from './billing/index.js';
import type { ReplyState } from './call-context.js';
import type { CallTranslation } from './call-translation.js';
import { NotForThisChannel } from './relay.errors.js';
import type { Assignment } from './routing/index.js';
import type { TranslatedRequest, Translator } from './translation.service.js';
import type { CallSockets } from './upstream/upstream-sockets.js';

/** An admitted call in progress. */
export interface RunningCall {
  readonly ticket: Ticket;
  readonly admission: Admission;
  readonly response: ReplyState;
  /** Of the protocol of the response; the request is in the call's own. */
  readonly responseAdapter: ProtocolAdapter;
  /** Set for calls over a WebSocket. */
  readonly sockets: CallSockets | undefined;
}

/** A request ready to be sent, and what is needed to read its response. */
export interface PreparedRequest {
  readonly target: UpstreamTarget;
  readonly request: UpstreamRequest;
  /** Undefined for verbatim requests. */
  readonly translation: CallTranslation | undefined;
  readonly warnings: TranslationWarnings;
  /** Number of stop sequences sent upstream. */
  readonly stopsSent: number;
  /** Set if the request is a message for a WebSocket. */
  readonly socket?: UpstreamSocketProtocol;
}

/**
 * Synchronous unless a large request is translated.
 * @param translator reads the request if the upstream's protocol differs
 * @throws AppError of the adapter; NotForThisChannel when the protocol cannot express the request
 */
export function prepareRequest(
  running: RunningCall,
  channel: Channel,
  adapter: UpstreamAdapter,
  translator: Translator,
): PreparedRequest | Observable<PreparedRequest> {
  const { call } = running.ticket;
  if (passesVerbatim(call, running.responseAdapter.id, channel, adapter)) {
    const target = verbatimTarget(running, channel, translator);
    return { target, request: adapter.verbatim.rewriteRequest(call, target), ...VERBATIM };
  }
  return translateRequest(targetOf(running, channel, true), adapter, translator);
}

/** A verbatim request sends everything. */
const VERBATIM = { translation: undefined, warnings: new TranslationWarnings(false), stopsSent: Infinity };

function verbatimTarget(running: RunningCall, channel: Channel, translator: Translator): UpstreamTarget {
  const input = translator.completeInput();
  return { ...targetOf(running, channel, false), ...(input !== undefined && { input }) };
}

/**
 * The ways to send a request over a WebSocket, shortest message first: without what the upstream keeps, and whole.
 * Empty: HTTP only.
 */
export function prepareMessages(
  running: RunningCall,
  assignment: Assignment,
  adapter: UpstreamAdapter,
  translator: Translator,
): readonly (() => PreparedRequest)[] {
  const { sockets, responseAdapter, ticket } = running;
  const { call } = ticket;
  const { channel } = assignment;
  const { socket } = adapter;
  if (channel.flags['websocket'] !== true || socket === undefined) return [];
  if (sockets?.accepts(assignment, call.body.bytes.length) !== true) return [];
  if (!passesVerbatim(call, responseAdapter.id, channel, adapter)) return [];
  const message = (sent: Call, target: UpstreamTarget): PreparedRequest => ({
    target,
    request: socket.rewriteMessage(sent, target),
    socket,
    ...VERBATIM,
  });
  const target = verbatimTarget(running, channel, translator);
  const whole = (): PreparedRequest => message(call, target);
  const bytes = target.input === undefined ? sockets.continuationAt(assignment) : undefined;
  if (bytes === undefined) return [whole];
  const head = responseAdapter.headReader(call.request).end({ bytes });
  return [() => message({ ...call, head, body: { bytes } }, target), whole];
}

/**
 * The request in the upstream's protocol.
 * @param finished compaction of the conversation, if it was compacted first
 */
export function translateRequest(
  target: UpstreamTarget,
  adapter: UpstreamAdapter,
  translator: Translator,
  finished?: FinishedCompaction,
): PreparedRequest | Observable<PreparedRequest> {
  const prepared = ({ request, translation, warnings }: TranslatedRequest): PreparedRequest => ({
    target,
    request,
    translation,
    warnings,
    stopsSent: request.stopSequencesSent ?? 0,
  });
  try {
    const built = translator.build(adapter, target, finished);
    if (!isObservable(built)) return prepared(built);
    return built.pipe(
      map(prepared),
      catchError((error: unknown) => throwError(() => unfit(error))),
    );
  } catch (error) {
    throw unfit(error);
  }
}

const unfit = (error: unknown): unknown =>
  error instanceof AppError && error.kind === 'invalid_request' ? new NotForThisChannel(error) : error;

/**
 * Whether the client's bytes are sent unchanged: the upstream uses the same protocol, the response form matches, and it
 * can compact conversations if necessary.
 */
export function passesVerbatim(
  { protocol, head }: Pick<Call, 'protocol' | 'head'>,
  responseProtocol: ProtocolId,
  channel: Channel,
  adapter: Pick<UpstreamAdapter, 'verbatim'>,
): adapter is { readonly verbatim: VerbatimLane } {
  const isNative = adapter.verbatim !== undefined && channel.protocol === protocol && responseProtocol === protocol;
  const folds = channel.flags['forceUpstreamStream'] === true && !head.stream;
  const summarizes = head.compacts === true && channel.flags['compaction'] === false;
  return isNative && !folds && !summarizes;
}

function targetOf({ ticket, admission }: RunningCall, channel: Channel, translated: boolean): UpstreamTarget {
  const { model, caller } = admission.plan;
  const flags = { ...model.capabilities, ...channel.flags };
  // Streaming upstream shows progress of long responses; a client without streaming gets them collected.
  const folds = translated && flags['forceUpstreamStream'] !== false;
  return {
    model: upstreamModel(channel, model.name),
    outputLimit: admission.outputLimit,
    flags,
    stream: ticket.call.head.stream || folds,
    maxOutputTokens: model.maxOutputTokens,
    mayStore: caller.storesResponses,
    family: channel.family,
    namedModels: admission.plan.namedModels && namedUpstream(channel, admission.plan.namedModels.keys()),
  };
}

const namedUpstream = (channel: Channel, names: Iterable<string>): ReadonlyMap<string, string> =>
  new Map(Array.from(names, (name) => [name, upstreamModel(channel, name)]));
