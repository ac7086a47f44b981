import { Injectable } from '@nestjs/common';
import { defer, isObservable, type Observable, switchMap, throwError, timeout } from 'rxjs';
import type { AttemptTarget } from './billing/index.js';
import type { Frame, UpstreamAdapter } from '../protocols/contract/index.js';
import { type Assignment } from './routing/index.js';
import { UpstreamClient } from './upstream/upstream-client.js';
import { AdapterRegistry } from './adapter.registry.js';
import { ResponseStore } from './response-store.js';
import { lane } from './lane.js';
import { type PreparedRequest, prepareRequest } from './prepared-request.js';
import { monotonicMs } from '../platform/shared/index.js';
import { RelayTimings } from './relay-timings.js';
import { TranslationTooSlow } from './relay.errors.js';
import type { RunningCall } from './running-call.js';
import type { Translation } from './translation.js';
import type { Translator } from './translations.js';
import { traced } from './traced-request.js';
import { timeLimits, watchAttempt } from './watched-attempt.js';

/** One request to one upstream. */
interface AttemptContext {
  readonly running: RunningCall;
  readonly assignment: Assignment;
  readonly adapter: UpstreamAdapter;
  readonly translator: Translator;
  readonly totalMs: number;
}

/** One request to one upstream, and its answer. */
@Injectable()
export class Exchange {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly client: UpstreamClient,
    private readonly timings: RelayTimings,
    private readonly memory: ResponseStore,
  ) {}

  /**
   * Cold.
   * @param translator reads the request, where the upstream's dialect or the form of its answer is another one
   * @param totalMs all that it may take
   */
  frames(running: RunningCall, assignment: Assignment, translator: Translator, totalMs: number): Observable<Frame> {
    return defer(() => {
      const adapter = this.adapters.upstream(assignment.channel.protocol);
      const prepared = prepareRequest(running, assignment.channel, adapter, translator);
      const begunMs = monotonicMs();
      const ask = (ready: PreparedRequest, leftMs: number): Observable<Frame> =>
        this.ask(ready, { running, assignment, adapter, translator, totalMs: leftMs });
      if (!isObservable(prepared)) return ask(prepared, totalMs);
      return prepared.pipe(
        timeout({ first: totalMs, with: () => throwError(() => new TranslationTooSlow()) }),
        switchMap((ready) => ask(ready, Math.max(1, totalMs - (monotonicMs() - begunMs)))),
      );
    });
  }

  private ask(
    prepared: PreparedRequest,
    { running, assignment, adapter, translator, totalMs }: AttemptContext,
  ): Observable<Frame> {
    const { ticket, answer } = running;
    const { channel, credential } = assignment;
    const { call } = ticket;
    const { target, request, translation, losses, stopsSent } = prepared;
    // Also when there are none: those of an attempt that failed are not this one's.
    answer.warnings = losses.header;
    const attempt = ticket.beginAttempt({
      ...attemptTarget(assignment, running.admission.plan.model.name, target.model),
      isTierLeftOut: losses.has('unsupported_parameter', 'service_tier'),
    });
    answer.begin();
    const limits = timeLimits({ ...channel.timeouts, totalMs }, target.stream, this.timings.preludeMs);
    const context = {
      call,
      adapter,
      target,
      answer,
      attempt,
      translation,
      translator,
      losses: losses.forAnswer(),
      stopsSent,
      timings: this.timings,
    };
    const frames = this.client
      .open(channel, credential?.secret, traced(request, ticket, channel, adapter), answer.flow)
      .pipe(lane(context), watchAttempt({ attempt, answer, ...limits }));
    return this.kept(frames, running, assignment, translation);
  }

  private kept(
    frames: Observable<Frame>,
    { ticket: { call }, admission, protocol }: RunningCall,
    { channel, credential }: Assignment,
    translation: Translation | undefined,
  ): Observable<Frame> {
    const { caller } = admission.plan;
    const maker = { channelId: channel.id, credentialId: credential?.id ?? null };
    return this.memory.kept(frames, { call, caller, protocol, maker, input: translation?.input });
  }
}

function attemptTarget({ channel, credential }: Assignment, model: string, upstreamModel: string): AttemptTarget {
  const { name, protocol, credentials, costs } = channel;
  const ordinal = credential === undefined ? null : credentials.indexOf(credential) + 1;
  return { channel: name, protocol, upstreamModel, credential: ordinal, cost: costs.get(model), offers: channel };
}
