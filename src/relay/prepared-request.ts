import { catchError, isObservable, map, type Observable, throwError } from 'rxjs';
import { type Channel, upstreamModel } from '../catalog/channels/index.js';
import { AppError } from '../platform/shared/index.js';
import {
  type Call,
  type ProtocolAdapter,
  type ProtocolId,
  TranslationWarnings,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
  type VerbatimLane,
} from '../protocols/contract/index.js';
import type { Admission, Ticket } from './billing/index.js';
import type { CallContext } from './call-context.js';
import type { Translation } from './translation.js';
import type { TranslatedRequest, Translator } from './translations.js';

/** A request that is ready to go up, and what must be known of it to read its answer. */
export interface PreparedRequest {
  readonly target: UpstreamTarget;
  readonly request: UpstreamRequest;
  /** Undefined when it goes up in the client's own words. */
  readonly translation: Translation | undefined;
  readonly losses: TranslationWarnings;
  /** How many of the client's stop texts the upstream knows. */
  readonly stopsSent: number;
}

/**
 * Later only when a large request is translated.
 * @param translator reads the request, where the upstream's dialect is another one
 * @throws AppError as the adapter does; NotForThisChannel when the request cannot be said in its dialect
 */
export function prepareRequest(
  running: RunningCall,
  channel: Channel,
  adapter: UpstreamAdapter,
  translator: Translator,
): PreparedRequest | Observable<PreparedRequest> {
  const { call } = running.ticket;
  if (passesVerbatim(call, running.protocol.id, channel, adapter)) {
    const target = targetOf(running, channel, false);
    // Verbatim the upstream knows all of it.
    const whole = { translation: undefined, losses: new TranslationWarnings(false), stopsSent: Infinity };
    return { target, request: adapter.verbatim.rewriteRequest(call, target), ...whole };
  }
  const target = targetOf(running, channel, true);
  const prepared = ({ request, translation, losses }: TranslatedRequest): PreparedRequest => ({
    target,
    request,
    translation,
    losses,
    stopsSent: request.stopsSent ?? 0,
  });
  try {
    const built = translator.build(adapter, target);
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

/** Why a channel was not asked though another one may be: its dialect lacks a word. */
export class NotForThisChannel extends Error {
  /** @param reason what the client is told when there is no other */
  constructor(readonly reason: AppError) {
    super(reason.message);
  }
}

/**
 * The client's bytes go up as they are: its dialect is spoken there, and the answer is wanted in the form it comes in.
 * @param answered the dialect of the answer
 */
export function passesVerbatim(
  { protocol, head }: Pick<Call, 'protocol' | 'head'>,
  answered: ProtocolId,
  channel: Channel,
  adapter: Pick<UpstreamAdapter, 'verbatim'>,
): adapter is { readonly verbatim: VerbatimLane } {
  const folds = channel.flags['forceUpstreamStream'] === true && !head.stream;
  return adapter.verbatim !== undefined && channel.protocol === protocol && answered === protocol && !folds;
}

function targetOf({ ticket, admission }: RunningCall, channel: Channel, translated: boolean): UpstreamTarget {
  const { model, caller } = admission.plan;
  const flags = { ...model.capabilities, ...channel.flags };
  // Streamed, an answer that takes long is seen to come; a client that wants it whole gets it put together.
  const folds = translated && flags['forceUpstreamStream'] !== false;
  return {
    model: upstreamModel(channel, model.name),
    outputLimit: admission.outputLimit,
    flags,
    stream: ticket.call.head.stream || folds,
    maxOutputTokens: model.maxOutputTokens,
    mayStore: caller.storesAnswers,
    family: channel.family,
    namedModels: admission.plan.namedModels && namedUpstream(channel, admission.plan.namedModels.keys()),
  };
}

const namedUpstream = (channel: Channel, names: Iterable<string>): ReadonlyMap<string, string> =>
  new Map(Array.from(names, (name) => [name, upstreamModel(channel, name)]));

/** An admitted call that is being answered. */
export interface RunningCall {
  readonly ticket: Ticket;
  readonly admission: Admission;
  readonly answer: CallContext;
  /** Who words the answer; the request is in the call's own dialect. */
  readonly protocol: ProtocolAdapter;
}
