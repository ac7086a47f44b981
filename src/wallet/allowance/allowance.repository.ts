import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull } from 'typeorm';
import { type Nanos, nanos, ZERO } from '../../platform/shared/index.js';
import { AllowanceEntity, AllowanceMonthEntity } from './allowance.entity.js';
import type { AllowanceMonth } from './allowance-calendar.js';
import { type Remaining, remainingIn } from './remaining.js';

/** What is written of an allowance when it is given; the rest follows. */
export type GivenAllowance = Pick<
  AllowanceMonthEntity,
  'accountId' | 'month' | 'granted' | 'entryId' | 'remaining' | 'walletBalance'
>;

/** How an allowance ended. */
interface EndedAllowance extends Remaining {
  readonly expired: Nanos;
  /** Null where nothing has expired. */
  readonly entryId: string | null;
}

/** The same wallet, before and after a movement. */
interface Moved {
  readonly accountId: string;
  readonly balance: Nanos;
}

/*
 * Who is given one for a month: not who is suspended or deleted, and nobody twice, nor for a month before one that was
 * given already, whatever the clocks say. Reads `accounts`, which auth writes.
 */
const TO_BE_GIVEN = `
  SELECT a.account_id, a.amount FROM allowances a JOIN accounts o ON o.id = a.account_id AND o.state = 'enabled'
   WHERE NOT EXISTS (SELECT FROM allowance_months m WHERE m.account_id = a.account_id AND m.month >= $1)`;

const DUE = `
  SELECT due.account_id AS id FROM (
    SELECT account_id FROM allowance_months WHERE ended_at IS NULL AND month < $1
     UNION SELECT g.account_id FROM (${TO_BE_GIVEN}) AS g
  ) AS due WHERE due.account_id > $2 ORDER BY 1 LIMIT $3`;

/** Allowances and their months. Whoever writes has locked the wallet, so that nobody else does. */
@Injectable()
export class AllowanceRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** What each account is given a month; one that is given nothing has no entry. */
  async amounts(accountIds: readonly string[], manager = this.dataSource.manager): Promise<ReadonlyMap<string, Nanos>> {
    const rows = await manager
      .createQueryBuilder(AllowanceEntity, 'a')
      .where('a.account_id = ANY (:accountIds)', { accountIds })
      .getMany();
    return new Map(rows.map(({ accountId, amount }) => [accountId, amount]));
  }

  /** @param amount 0: nothing any more */
  async setAmount(accountId: string, amount: Nanos, manager: EntityManager): Promise<void> {
    if (amount === ZERO) await manager.delete(AllowanceEntity, { accountId });
    else await manager.upsert(AllowanceEntity, { accountId, amount }, ['accountId']);
  }

  /** That of the last month for which one was given, until it has ended. */
  running(accountId: string, manager: EntityManager): Promise<AllowanceMonthEntity | null> {
    return manager.findOneBy(AllowanceMonthEntity, { accountId, endedAt: IsNull() });
  }

  /** What this account is still to be given for a month; undefined: nothing. */
  async toBeGiven(accountId: string, month: AllowanceMonth, manager: EntityManager): Promise<Nanos | undefined> {
    const [row] = await manager.query<{ amount: string }[]>(`${TO_BE_GIVEN} AND a.account_id = $2`, [month, accountId]);
    return row && nanos(BigInt(row.amount));
  }

  /** Accounts that are to be given one for a month, or whose earlier one has not ended; in the order of their ids. */
  async due(month: AllowanceMonth, after: string, limit: number): Promise<readonly string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(DUE, [month, after, limit]);
    return rows.map(({ id }) => id);
  }

  async begin(given: GivenAllowance, manager: EntityManager): Promise<void> {
    const takenBefore = await takenByCalls(given.accountId, manager);
    await manager.insert(AllowanceMonthEntity, { ...given, takenBefore });
  }

  /** @param balance what the wallet has then */
  async end(
    { accountId, month }: AllowanceMonthEntity,
    { remaining, spent, expired, entryId }: EndedAllowance,
    balance: Nanos,
    manager: EntityManager,
  ): Promise<void> {
    const takenAfter = await takenByCalls(accountId, manager);
    await manager.update(
      AllowanceMonthEntity,
      { accountId, month },
      {
        remaining,
        spent,
        expired,
        expiryEntryId: entryId,
        walletBalance: balance,
        endedAt: () => 'clock_timestamp()',
        takenAfter,
      },
    );
  }

  /** Keeps account of what is left when anything but a call moves the wallet, in the same transaction. */
  async follow(before: Moved, after: Moved, manager: EntityManager): Promise<void> {
    const { accountId } = before;
    const running = await this.running(accountId, manager);
    if (running === null) return;
    const { remaining, spent } = remainingIn(running, before.balance);
    const left = after.balance < remaining ? after.balance : remaining;
    const key = { accountId, month: running.month };
    await manager.update(AllowanceMonthEntity, key, { remaining: left, spent, walletBalance: after.balance });
  }
}

/** The total that calls, and debts paid out of what they released, have taken out of a wallet that is locked. */
async function takenByCalls(accountId: string, manager: EntityManager): Promise<Nanos> {
  // Movements of this transaction would only be listed at its end.
  await manager.query('SET CONSTRAINTS movements_are_listed IMMEDIATE');
  await manager.query('SET CONSTRAINTS movements_are_listed DEFERRED');
  const [row] = await manager.query<{ taken: string }[]>('SELECT taken_by_calls($1) AS taken', [accountId]);
  return nanos(BigInt(row?.taken ?? 0));
}
