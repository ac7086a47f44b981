import { Injectable } from '@nestjs/common';
import { defer, from, type Observable, switchMap, using } from 'rxjs';
import { type Admission, likelyPromptTokens, NamedCalls, type Ticket } from './billing/index.js';
import type { Call, Frame, ProtocolAdapter } from '../protocols/contract/index.js';
import type { Caller } from '../keys/index.js';
import type { CallContext } from './call-context.js';
import { CallLimits } from './call-limits.js';
import { ModelAccess } from './model-access.js';
import { RelayMetrics } from './relay-metrics.js';

/** A call to be admitted. */
interface AskingCall {
  readonly ticket: Ticket;
  readonly answer: CallContext;
  /** Protocol of the response, which reports remaining limits. */
  readonly protocol: ProtocolAdapter;
  /** The client's idempotency key, with the ID of the API key. */
  readonly name: string | undefined;
}

/** Admits calls: checks model access, then limits, then money. */
@Injectable()
export class Admissions {
  constructor(
    private readonly models: ModelAccess,
    private readonly limits: CallLimits,
    private readonly names: NamedCalls,
    private readonly metrics: RelayMetrics,
  ) {}

  /**
   * Cold. Runs `answered` for the admitted call, which counts as running until that ends or is unsubscribed.
   * @throws AppError when the call is rejected, or another process runs a call of the same name
   */
  during(asking: AskingCall, answered: (admission: Admission) => Observable<Frame>): Observable<Frame> {
    const { ticket, name } = asking;
    const { head, protocol } = ticket.call;
    if (head.demands !== undefined) this.metrics.countUnknown(protocol, head.demands.unknownMembers);
    const admitted = (): Observable<Frame> => this.limited(asking, answered);
    return name === undefined ? admitted() : this.names.during(name, ticket.call.id, admitted);
  }

  /** Counts a request that shares another call's response. @throws RateLimited */
  async countRepetition(call: Call, caller: Caller): Promise<void> {
    await this.limits.countRequest(call, caller);
  }

  private limited(
    { ticket, answer, protocol }: AskingCall,
    answered: (admission: Admission) => Observable<Frame>,
  ): Observable<Frame> {
    const { call, caller } = ticket;
    const admitted = (): Observable<Frame> =>
      from(ticket.admit((current) => this.models.plan(call, current))).pipe(switchMap(answered));
    const subjects = this.limits.subjectsOf(caller, call.ip);
    if (subjects === undefined) return admitted();
    return defer(() => {
      // Calls without access to the model are not counted.
      const { model } = this.models.plan(call, caller);
      const promptTokens = likelyPromptTokens(call.head.size, model.contextWindow);
      const limited = this.limits.hold(ticket, subjects, promptTokens);
      const permitted = from(limited.permit).pipe(
        switchMap(({ standings }) => {
          Object.assign(answer.headers, protocol.renderLimits(standings));
          return admitted();
        }),
      );
      return using(
        () => limited,
        () => permitted,
      );
    });
  }
}
