import { Injectable } from '@nestjs/common';
import { defer, from, type Observable, switchMap, type Unsubscribable, using } from 'rxjs';
import { CatalogService } from '../catalog/index.js';
import type { Caller } from '../keys/index.js';
import {
  type Demand,
  isUnlimited,
  type LimitStatuses,
  NO_LIMITS,
  ownOrDefault,
  type Permit,
  type RateLimited,
  RateLimiter,
  type Subject,
} from '../platform/limits/index.js';
import { networkOf } from '../platform/shared/index.js';
import type { Call, Frame, ProtocolAdapter } from '../protocols/contract/index.js';
import { type Admission, likelyPromptTokens, NamedCalls, type Ticket } from './billing/index.js';
import type { CallContext } from './call-context.js';
import { ModelAccess } from './model-access.js';
import { RelayMetrics } from './relay-metrics.js';

/** Determines which rate limits apply to a request. */
@Injectable()
export class CallLimits {
  constructor(
    private readonly catalog: CatalogService,
    private readonly limiter: RateLimiter,
  ) {}

  /** Subjects that a request counts for; undefined if none has a limit. */
  subjectsOf(caller: Caller, ip: string): readonly Subject[] | undefined {
    const { groups, defaultLimits } = this.catalog.current();
    const ofGroup = groups.get(caller.groupName)?.limits ?? NO_LIMITS;
    const { key, account, address } = defaultLimits;
    if (isUnlimited(caller.keyLimits) && isUnlimited(caller.accountLimits) && isUnlimited(ofGroup))
      if (isUnlimited(key) && isUnlimited(account) && isUnlimited(address)) return undefined;
    const { keyId, keyName, accountId, groupName } = caller;
    return [
      { kind: 'key', id: keyId, name: keyName, limits: ownOrDefault(caller.keyLimits, key) },
      { kind: 'account', id: accountId, name: '', limits: ownOrDefault(caller.accountLimits, account) },
      { kind: 'group', id: groupName, name: groupName, limits: ofGroup },
      // A client that has left has no address.
      ...(ip === '' ? [] : [{ kind: 'address', id: networkOf(ip), name: '', limits: address } as const]),
    ];
  }

  /** Why a call can never be admitted, regardless of other calls. Counts nothing. */
  refusalOfAlone(demand: Demand): RateLimited | undefined {
    return this.limiter.refusalOfAlone(demand);
  }

  /** Starts taking what a call needs. Unsubscribe from the result when the call has ended. */
  hold(ticket: Ticket, subjects: readonly Subject[], promptTokens: number): LimitedCall {
    const demand: Demand = { id: ticket.call.id, subjects, tokens: promptTokens, runs: true };
    return new LimitedCall(this.limiter.take(demand), ticket, promptTokens);
  }

  /** Counts a request without a model run, such as a token count. Undefined without limits. @throws RateLimited */
  async countRequest({ id, ip }: Pick<Call, 'id' | 'ip'>, caller: Caller): Promise<LimitStatuses | undefined> {
    const subjects = this.subjectsOf(caller, ip);
    if (subjects === undefined) return undefined;
    const { standings } = await this.limiter.take({ id, subjects, tokens: 0, runs: false });
    return standings;
  }
}

/** A counted call, from its request for admission to its end. */
class LimitedCall implements Unsubscribable {
  constructor(
    /** Rejects with RateLimited. */
    readonly permit: Promise<Permit>,
    private readonly ticket: Ticket,
    private readonly promptTokens: number,
  ) {}

  /** However the call ended, including before admission. */
  unsubscribe(): void {
    const used = this.usedTokens();
    this.permit.then((permit) => permit.end(used)).catch(() => undefined);
  }

  /** Reported or counted tokens, else those seen so far. */
  private usedTokens(): number {
    if (this.ticket.admission === undefined) return 0;
    const { usage, isProvisional, countedPrompt, outputUnits } = this.ticket.progress();
    if (usage !== undefined && isProvisional !== true) return usage.input + usage.output;
    return (usage?.input || countedPrompt || this.promptTokens) + Math.max(usage?.output ?? 0, outputUnits);
  }
}

/** A call to be admitted. */
interface PendingCall {
  readonly ticket: Ticket;
  readonly response: CallContext;
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
   * Cold. Calls `run` for the admitted call, which counts as running until that ends or is unsubscribed.
   * @throws AppError when the call is rejected, or another process runs a call of the same name
   */
  during(pending: PendingCall, run: (admission: Admission) => Observable<Frame>): Observable<Frame> {
    const { ticket, name } = pending;
    const { head, protocol } = ticket.call;
    if (head.demands !== undefined) this.metrics.countUnknown(protocol, head.demands.unknownMembers);
    const admitted = (): Observable<Frame> => this.limited(pending, run);
    return name === undefined ? admitted() : this.names.during(name, ticket.call.id, admitted);
  }

  /** Counts a request that shares another call's response. @throws RateLimited */
  async countRepetition(call: Call, caller: Caller): Promise<void> {
    await this.limits.countRequest(call, caller);
  }

  private limited(
    { ticket, response, protocol }: PendingCall,
    run: (admission: Admission) => Observable<Frame>,
  ): Observable<Frame> {
    const { call, caller } = ticket;
    const admitted = (): Observable<Frame> =>
      from(ticket.admit((current) => this.models.plan(call, current))).pipe(switchMap(run));
    const subjects = this.limits.subjectsOf(caller, call.ip);
    if (subjects === undefined) return admitted();
    return defer(() => {
      // Calls without access to the model are not counted.
      const { model } = this.models.plan(call, caller);
      const promptTokens = likelyPromptTokens(call.head.size, model.contextWindow);
      const limited = this.limits.hold(ticket, subjects, promptTokens);
      const permitted = from(limited.permit).pipe(
        switchMap(({ standings }) => {
          Object.assign(response.headers, protocol.renderLimits(standings));
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
