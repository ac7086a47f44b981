import { Injectable } from '@nestjs/common';
import { Column, DataSource, Entity, type EntityManager, IsNull, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../../platform/database/index.js';
import { type Nanos, nanos, ZERO } from '../../platform/shared/index.js';

/** Columns of a granted allowance; the rest is derived. */
type GivenAllowance = Pick<
  AllowanceMonthEntity,
  'accountId' | 'month' | 'granted' | 'entryId' | 'remaining' | 'walletBalance'
>;

/** How an allowance ended. */
interface EndedAllowance extends Remaining {
  readonly expired: Nanos;
  /** Null if nothing expired. */
  readonly entryId: string | null;
}

/** A wallet before and after a movement. */
interface MovedAmounts {
  readonly accountId: string;
  readonly balance: Nanos;
}

/**
 * Accounts due for a month: enabled, not granted yet, and without a later grant, whatever the clocks say. Reads
 * `accounts`, which auth writes.
 */
const TO_BE_GIVEN = `
  SELECT a.account_id, a.amount FROM allowances a JOIN accounts o ON o.id = a.account_id AND o.state = 'enabled'
   WHERE NOT EXISTS (SELECT FROM allowance_months m WHERE m.account_id = a.account_id AND m.month >= $1)`;

const DUE = `
  SELECT due.account_id AS id FROM (
    SELECT account_id FROM allowance_months WHERE ended_at IS NULL AND month < $1
     UNION SELECT g.account_id FROM (${TO_BE_GIVEN}) AS g
  ) AS due WHERE due.account_id > $2 ORDER BY 1 LIMIT $3`;

/** Allowances and their months. Writers must have locked the wallet. */
@Injectable()
export class AllowanceRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Monthly amounts by account; accounts without an allowance are missing. */
  async amounts(accountIds: readonly string[], manager = this.dataSource.manager): Promise<ReadonlyMap<string, Nanos>> {
    const rows = await manager
      .createQueryBuilder(AllowanceEntity, 'a')
      .where('a.account_id = ANY (:accountIds)', { accountIds })
      .getMany();
    return new Map(rows.map(({ accountId, amount }) => [accountId, amount]));
  }

  /** @param amount 0 removes the allowance */
  async setAmount(accountId: string, amount: Nanos, manager: EntityManager): Promise<void> {
    if (amount === ZERO) await manager.delete(AllowanceEntity, { accountId });
    else await manager.upsert(AllowanceEntity, { accountId, amount }, ['accountId']);
  }

  /** The last granted allowance, until it has ended. */
  running(accountId: string, manager: EntityManager): Promise<AllowanceMonthEntity | null> {
    return manager.findOneBy(AllowanceMonthEntity, { accountId, endedAt: IsNull() });
  }

  /** The amount due to the account for a month; undefined: none. */
  async amountDue(accountId: string, month: AllowanceMonth, manager: EntityManager): Promise<Nanos | undefined> {
    const [row] = await manager.query<{ amount: string }[]>(`${TO_BE_GIVEN} AND a.account_id = $2`, [month, accountId]);
    return row && nanos(BigInt(row.amount));
  }

  /** Accounts that are due for a month or whose earlier allowance has not ended, by ID. */
  async due(month: AllowanceMonth, after: string, limit: number): Promise<readonly string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(DUE, [month, after, limit]);
    return rows.map(({ id }) => id);
  }

  async begin(given: GivenAllowance, manager: EntityManager): Promise<void> {
    const takenBefore = await takenByCalls(given.accountId, manager);
    await manager.insert(AllowanceMonthEntity, { ...given, takenBefore });
  }

  /** @param balance the wallet's balance */
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

  /** Updates what remains when something other than a call moves the wallet, in the same transaction. */
  async follow(before: MovedAmounts, after: MovedAmounts, manager: EntityManager): Promise<void> {
    const { accountId } = before;
    const running = await this.running(accountId, manager);
    if (running === null) return;
    const { remaining, spent } = remainingIn(running, before.balance);
    const left = after.balance < remaining ? after.balance : remaining;
    const key = { accountId, month: running.month };
    await manager.update(AllowanceMonthEntity, key, { remaining: left, spent, walletBalance: after.balance });
  }
}

/** Total taken out of a locked wallet by calls, and by debts paid from their released holds. */
async function takenByCalls(accountId: string, manager: EntityManager): Promise<Nanos> {
  // Movements of this transaction would otherwise be listed only at its end.
  await manager.query('SET CONSTRAINTS movements_are_listed IMMEDIATE');
  await manager.query('SET CONSTRAINTS movements_are_listed DEFERRED');
  const [row] = await manager.query<{ taken: string }[]>('SELECT taken_by_calls($1) AS taken', [accountId]);
  return nanos(BigInt(row?.taken ?? 0));
}

/** The monthly amount of an account. No row: nothing. */
@Entity('allowances')
export class AllowanceEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  @Column(nanosColumn)
  readonly amount: Nanos;
}

/** The allowance of one month, until it has ended. */
@Entity('allowance_months')
export class AllowanceMonthEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  /** First day of the month: `2026-12-01`. */
  @PrimaryColumn('date')
  readonly month: string;

  @Column(nanosColumn)
  readonly granted: Nanos;

  /** The granting ledger entry. */
  @Column('text', { name: 'entry_id' })
  readonly entryId: string;

  @Column('timestamptz', { name: 'given_at', default: () => 'clock_timestamp()' })
  readonly givenAt: Date;

  /** The remainder when the wallet was last moved, including amounts expired since. */
  @Column(nanosColumn)
  readonly remaining: Nanos;

  /** Total taken by calls, and by debts paid from their released holds, when the wallet was last moved. */
  @Column({ ...nanosColumn, default: 0 })
  readonly spent: Nanos;

  /** The balance right after the last movement other than a call. */
  @Column({ ...nanosColumn, name: 'wallet_balance' })
  readonly walletBalance: Nanos;

  /** Total taken by calls, and by debts paid from their released holds, when the allowance was granted. */
  @Column({ ...nanosColumn, name: 'taken_before' })
  readonly takenBefore: Nanos;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  readonly endedAt: Date | null;

  /** The same when it ended. */
  @Column({ ...nanosColumn, name: 'taken_after', nullable: true })
  readonly takenAfter: Nanos | null;

  @Column({ ...nanosColumn, nullable: true })
  readonly expired: Nanos | null;

  /** The ledger entry that removed the expired part; null if nothing expired. */
  @Column('text', { name: 'expiry_entry_id', nullable: true })
  readonly expiryEntryId: string | null;
}

/** How much of an allowance is spent. */
interface Remaining {
  /** Part of the wallet's balance. */
  readonly remaining: Nanos;
  /** Taken out of the wallet by calls since it was granted. */
  readonly spent: Nanos;
}

type MonthFigures = Pick<AllowanceMonthEntity, 'remaining' | 'spent' | 'walletBalance'>;

/**
 * The remainder of an allowance at a given balance. Calls spend the allowance first: the difference to the last recorded
 * balance was taken by calls. It never exceeds the balance: what debits and refunds took from it is not restored by
 * later deposits.
 */
export function remainingIn(month: MonthFigures, balance: Nanos): Remaining {
  const taken = largest(month.walletBalance - balance, 0n);
  return {
    remaining: nanos(largest(smallest(month.remaining - taken, balance), 0n)),
    spent: nanos(month.spent + taken),
  };
}

/** The amount that expires at the end of the month: the part that no running call holds. Amounts released later stay. */
export function expiring(remaining: Nanos, { balance, held }: Readonly<Record<'balance' | 'held', Nanos>>): Nanos {
  return nanos(largest(smallest(remaining, balance - held), 0n));
}

const smallest = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const largest = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** First day of a month in UTC: `2026-12-01`. */
export type AllowanceMonth = string;
