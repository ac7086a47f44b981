import { Injectable } from '@nestjs/common';
import { type Unsubscribable } from 'rxjs';
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
import type { Call } from '../protocols/contract/index.js';
import { type Ticket } from './billing/index.js';

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
  acquire(ticket: Ticket, subjects: readonly Subject[], promptTokens: number): LimitedCall {
    const demand: Demand = { id: ticket.call.id, subjects, tokens: promptTokens, runs: true };
    return new LimitedCall(this.limiter.acquire(demand), ticket, promptTokens);
  }

  /** Counts a request without a model run, such as a token count. Undefined without limits. @throws RateLimited */
  async countRequest({ id, ip }: Pick<Call, 'id' | 'ip'>, caller: Caller): Promise<LimitStatuses | undefined> {
    const subjects = this.subjectsOf(caller, ip);
    if (subjects === undefined) return undefined;
    const { statuses } = await this.limiter.acquire({ id, subjects, tokens: 0, runs: false });
    return statuses;
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
    const { usage, isProvisional, countedPrompt, outputTokens } = this.ticket.progress();
    if (usage !== undefined && isProvisional !== true) return usage.input + usage.output;
    return (usage?.input || countedPrompt || this.promptTokens) + Math.max(usage?.output ?? 0, outputTokens);
  }
}
