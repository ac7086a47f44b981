import { Injectable } from '@nestjs/common';
import { catchError, isObservable, map, type Observable, throwError } from 'rxjs';
import { type Channel, upstreamModel } from '../catalog/channels/index.js';
import { AppError } from '../platform/shared/index.js';
import {
  type Call,
  type CallBody,
  type CallHead,
  jsonInterests,
  JsonReader,
  type ProtocolAdapter,
  type ProtocolId,
  type RequestLine,
  TranslationWarnings,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
  type VerbatimLane,
} from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import type { Admission, Ticket } from './billing/index.js';
import { Bodies } from './bodies.js';
import type { BodyWatcher } from './body-reader.js';
import type { CallContext } from './call-context.js';
import type { CallTranslation } from './call-translation.js';
import type { TranslatedRequest, Translator } from './translation.service.js';

/** A request ready to be sent, and what is needed to read its response. */
export interface PreparedRequest {
  readonly target: UpstreamTarget;
  readonly request: UpstreamRequest;
  /** Undefined for verbatim requests. */
  readonly translation: CallTranslation | undefined;
  readonly warnings: TranslationWarnings;
  /** Number of stop sequences sent upstream. */
  readonly stopsSent: number;
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
  if (passesVerbatim(call, running.protocol.id, channel, adapter)) {
    const target = targetOf(running, channel, false);
    // A verbatim request sends everything.
    const whole = { translation: undefined, warnings: new TranslationWarnings(false), stopsSent: Infinity };
    return { target, request: adapter.verbatim.rewriteRequest(call, target), ...whole };
  }
  const target = targetOf(running, channel, true);
  const prepared = ({ request, translation, warnings }: TranslatedRequest): PreparedRequest => ({
    target,
    request,
    translation,
    warnings,
    stopsSent: request.stopSequencesSent ?? 0,
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

/** The channel's protocol cannot express the request; another channel may. */
export class NotForThisChannel extends Error {
  /** @param reason error for the client if no other channel is suitable */
  constructor(readonly reason: AppError) {
    super(reason.message);
  }
}

/**
 * Whether the client's bytes are sent unchanged: the upstream uses the same protocol and the response form matches.
 */
export function passesVerbatim(
  { protocol, head }: Pick<Call, 'protocol' | 'head'>,
  responseProtocol: ProtocolId,
  channel: Channel,
  adapter: Pick<UpstreamAdapter, 'verbatim'>,
): adapter is { readonly verbatim: VerbatimLane } {
  const folds = channel.flags['forceUpstreamStream'] === true && !head.stream;
  return adapter.verbatim !== undefined && channel.protocol === protocol && responseProtocol === protocol && !folds;
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

/** An admitted call in progress. */
export interface RunningCall {
  readonly ticket: Ticket;
  readonly admission: Admission;
  readonly response: CallContext;
  /** Protocol of the response; the request is in the call's own. */
  readonly protocol: ProtocolAdapter;
}

/** A parsed request with its protocol. */
interface UnderstoodRequest {
  /** Protocol of the request. */
  readonly requestProtocol: ProtocolAdapter;
  /** Protocol of the response. */
  readonly responseProtocol: ProtocolAdapter;
  readonly head: CallHead;
}

/** Determines the protocol of a request, by its body where the path is ambiguous, and reads its head. */
export interface ProtocolChoice extends BodyWatcher {
  /** Protocol of the path; empty if none. */
  readonly addressed: ProtocolId;
  /** @throws AppError when the body is invalid in every possible protocol */
  end(body: CallBody): UnderstoodRequest | Promise<UnderstoodRequest>;
}

/** For requests in the protocol of their path. */
function asAddressed(protocol: ProtocolAdapter, line: RequestLine): ProtocolChoice {
  const reader = protocol.headReader(line);
  return {
    addressed: protocol.id,
    next: (arrived) => reader.next(arrived),
    end: (body) => ({ requestProtocol: protocol, responseProtocol: protocol, head: reader.end(body) }),
  };
}

/** Handles clients that post requests of another protocol to a path. */
@Injectable()
export class ProtocolChoices {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly bodies: Bodies,
  ) {}

  /** For a protocol's path. Cursor posts Responses requests to Chat Completions. */
  at(protocol: ProtocolAdapter, line: RequestLine): ProtocolChoice {
    return protocol.id === 'chat-completions' ? this.unlessInput(protocol, line) : asAddressed(protocol, line);
  }

  /** With `input` it is a Responses request; otherwise Chat Completions. */
  byInput(line: RequestLine): ProtocolChoice {
    const shape = new ShapeReader();
    return {
      addressed: '',
      next: (arrived) => shape.next(arrived),
      end: async (body) => {
        const requestProtocol = this.adapters.protocol(shape.hasInput(body) ? 'responses' : 'chat-completions');
        return {
          requestProtocol,
          responseProtocol: requestProtocol,
          head: await this.bodies.readHead(requestProtocol.headReader(line), body),
        };
      },
    };
  }

  /**
   * A request with `input` instead of `messages`, as Cursor sends, is a Responses request but gets a response in the
   * path's protocol. Regular requests are read once.
   */
  private unlessInput(protocol: ProtocolAdapter, line: RequestLine): ProtocolChoice {
    const choice = asAddressed(protocol, line);
    return {
      ...choice,
      end: async (body) => {
        try {
          return await choice.end(body);
        } catch (error) {
          if (!lacks(error, 'messages')) throw error;
          const requestProtocol = this.adapters.protocol('responses');
          const head = await this.bodies
            .readHead(requestProtocol.headReader(line), body)
            .catch((otherwise: unknown) => {
              throw lacks(otherwise, 'input') ? error : otherwise;
            });
          if (!head.fields.has('input')) throw error;
          return { requestProtocol, responseProtocol: protocol, head };
        }
      },
    };
  }
}

const lacks = (error: unknown, member: string): boolean =>
  error instanceof AppError && error.details.fault === 'missing_required_parameter' && error.details.param === member;

const INTERESTS = jsonInterests('input', 'messages');

/** Looks for members that distinguish protocols. Malformed bodies are reported by the protocol's own reader. */
class ShapeReader {
  private readonly reader = new JsonReader(INTERESTS);
  private isMalformed = false;

  next(arrived: Buffer): void {
    if (!this.isMalformed) this.tolerate(() => this.reader.next(arrived));
  }

  hasInput(body: CallBody): boolean {
    const fields = this.isMalformed ? undefined : this.tolerate(() => this.reader.end(body));
    return fields?.field('input') !== undefined && fields.field('messages') === undefined;
  }

  private tolerate<Result>(read: () => Result): Result | undefined {
    try {
      return read();
    } catch {
      this.isMalformed = true;
      return undefined;
    }
  }
}
