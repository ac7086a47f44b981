import { Injectable } from '@nestjs/common';
import type { CreatedState, ScopedId } from '../../protocols/contract/index.js';
import { Clock } from '../../platform/shared/index.js';
import type { StateMaker } from './stored-response.js';
import { StoredResponseLimits } from './stored-response-limits.js';
import { type StateUse, UpstreamStatesRepository } from './upstream-states.repository.js';

/** How many times this process records state before the number of an account's is looked at. */
const RECORDS_PER_EVICTION = 64;

/** Ids of state that upstreams created for accounts: containers, files, conversations, threads. All keys of one share them. */
@Injectable()
export class UpstreamStates {
  private records = 0;

  constructor(
    private readonly rows: UpstreamStatesRepository,
    private readonly limits: StoredResponseLimits,
    private readonly clock: Clock,
  ) {}

  /** Kept until the upstream ends it, at most 30 days after its last use. */
  async record(accountId: string, maker: StateMaker, created: readonly CreatedState[]): Promise<void> {
    const states = created.map(({ kind, id, endsAt }) => ({
      kind,
      id,
      endsAt: endsAt === undefined ? null : new Date(endsAt),
    }));
    await this.rows.record(accountId, maker, states, this.use());
    if (++this.records % RECORDS_PER_EVICTION === 0) await this.rows.evict(accountId, this.limits.statesOfAccount);
  }

  /** Who made what an account names, in the order of the names: undefined where it was not made for the account, or ended. */
  async makersOf(accountId: string, named: readonly ScopedId[]): Promise<readonly (StateMaker | undefined)[]> {
    const possible = named.filter(({ id }) => id !== '' && !id.includes('\0'));
    const rows = possible.length === 0 ? [] : await this.rows.find(accountId, possible, this.use());
    const makers = new Map(rows.map((row) => [nameOf(row), row]));
    return named.map((one) => makers.get(nameOf(one)));
  }

  private use(): StateUse {
    const usedAt = this.clock.date();
    return { usedAt, keptUntil: new Date(usedAt.getTime() + this.limits.stateMs) };
  }
}

const nameOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string => `${kind} ${id}`;
