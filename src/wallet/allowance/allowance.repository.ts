import { Injectable } from '@nestjs/common';
import { Column, DataSource, Entity, type EntityManager, IsNull, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../../platform/database/index.js';
import { type Nanos, nanos, ZERO } from '../../platform/shared/index.js';

/** What is written of an allowance when it is given; the rest follows. */
type GivenAllowance = Pick<
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

/** What an account is given at the beginning of each month. Without a row: nothing. */
@Entity('allowances')
export class AllowanceEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  @Column(nanosColumn)
  readonly amount: Nanos;
}

/** What became of the allowance of one month. It runs until it has ended. */
@Entity('allowance_months')
export class AllowanceMonthEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  /** Its first day, `2026-12-01`. */
  @PrimaryColumn('date')
  readonly month: string;

  @Column(nanosColumn)
  readonly granted: Nanos;

  /** What gave it. */
  @Column('text', { name: 'entry_id' })
  readonly entryId: string;

  @Column('timestamptz', { name: 'given_at', default: () => 'clock_timestamp()' })
  readonly givenAt: Date;

  /** What was left of it when the wallet was last moved; what had expired of it since then included. */
  @Column(nanosColumn)
  readonly remaining: Nanos;

  /** What had left the wallet by calls, and by debts that were paid out of what they released, when it was last moved. */
  @Column({ ...nanosColumn, default: 0 })
  readonly spent: Nanos;

  /** What the wallet had right after it was last moved: by anything but a call. */
  @Column({ ...nanosColumn, name: 'wallet_balance' })
  readonly walletBalance: Nanos;

  /** The total that calls, and debts paid out of what they released, had taken out of the wallet when it was given. */
  @Column({ ...nanosColumn, name: 'taken_before' })
  readonly takenBefore: Nanos;

  @Column('timestamptz', { name: 'ended_at', nullable: true })
  readonly endedAt: Date | null;

  /** The same when it ended. */
  @Column({ ...nanosColumn, name: 'taken_after', nullable: true })
  readonly takenAfter: Nanos | null;

  @Column({ ...nanosColumn, nullable: true })
  readonly expired: Nanos | null;

  /** What took back what had expired; null when nothing had. */
  @Column('text', { name: 'expiry_entry_id', nullable: true })
  readonly expiryEntryId: string | null;
}

/** How far an allowance is spent. */
interface Remaining {
  /** What is left of it; part of the wallet's balance. */
  readonly remaining: Nanos;
  /** What calls have taken out of the wallet since it was given. */
  readonly spent: Nanos;
}

type MonthFigures = Pick<AllowanceMonthEntity, 'remaining' | 'spent' | 'walletBalance'>;

/**
 * What is left of an allowance in a wallet that has so much. What the wallet has less than when it was last moved, calls
 * have taken, and they take the allowance first. More than the whole balance cannot be left: what debits and refunds
 * took, when nothing else was there, is not made up for by what comes in later.
 */
export function remainingIn(month: MonthFigures, balance: Nanos): Remaining {
  const taken = largest(month.walletBalance - balance, 0n);
  return {
    remaining: nanos(largest(smallest(month.remaining - taken, balance), 0n)),
    spent: nanos(month.spent + taken),
  };
}

/** What expires at the end of the month: what no running call holds. What such a call releases later stays. */
export function expiring(remaining: Nanos, { balance, held }: Readonly<Record<'balance' | 'held', Nanos>>): Nanos {
  return nanos(largest(smallest(remaining, balance - held), 0n));
}

const smallest = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const largest = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** The first day of a month, `2026-12-01`. Months are those of UTC. */
export type AllowanceMonth = string;
