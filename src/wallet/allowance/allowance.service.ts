import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditLog } from '../../platform/audit/index.js';
import { ADVISORY_LOCKS, soleTransaction } from '../../platform/database/index.js';
import {
  AppError,
  formatUsd,
  MAX_AMOUNT,
  type Nanos,
  nanos,
  newId,
  reasonOf,
  RecurringWork,
  ZERO,
} from '../../platform/shared/index.js';
import { topUp, type WalletEntity } from '../wallet.entity.js';
import { InvalidAmount, WalletNotFound } from '../wallet.errors.js';
import { WalletRepository } from '../wallet.repository.js';
import {
  type AllowanceMonth,
  type AllowanceMonthEntity,
  AllowanceRepository,
  expiring,
  remainingIn,
} from './allowance.repository.js';

/** A moment and its month. */
export interface CalendarMoment {
  readonly at: Date;
  readonly month: AllowanceMonth;
  /** Start of the next month. */
  readonly next: Date;
}

const NOW = `
  SELECT clock.at, to_char(clock.at AT TIME ZONE 'UTC', 'YYYY-MM-01') AS month,
         (date_trunc('month', clock.at AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC' AS next
    FROM (SELECT clock_timestamp() AS at) AS clock`;

/** The database's clock, which all processes share. Tests override it. */
@Injectable()
export class AllowanceCalendar {
  async now(manager: EntityManager): Promise<CalendarMoment> {
    const [moment] = await manager.query<CalendarMoment[]>(NOW);
    if (moment === undefined) throw new TypeError('The database returned no time.');
    return moment;
  }
}

const NAME = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** `December 2026` */
export const monthName = (month: AllowanceMonth): string => NAME.format(new Date(`${month}T00:00:00Z`));

/**
 * Monthly allowances. Granted once per month and in full; a changed amount applies from the next month. Before the next
 * grant, what calls did not spend expires.
 */
@Injectable()
export class AllowanceService {
  constructor(
    private readonly wallets: WalletRepository,
    private readonly allowances: AllowanceRepository,
    private readonly calendar: AllowanceCalendar,
    private readonly audit: AuditLog,
  ) {}

  /** Monthly amounts by account; accounts without an allowance are missing. */
  amountsOf(accountIds: readonly string[]): Promise<ReadonlyMap<string, Nanos>> {
    return this.allowances.amounts(accountIds);
  }

  /**
   * Sets the monthly amount and grants this month's allowance unless it was granted.
   * @param amount 0: nothing from the next month on; this month's allowance stays
   * @param manager transaction; its own if absent
   * @throws WalletNotFound, InvalidAmount
   */
  async set(accountId: string, amount: Nanos, manager?: EntityManager): Promise<void> {
    if (amount < 0n) throw InvalidAmount.negative();
    if (amount > MAX_AMOUNT) throw InvalidAmount.balanceOutOfRange();
    if (manager === undefined) return this.wallets.transaction((own) => this.set(accountId, amount, own));
    const wallet = await this.lock(accountId, manager);
    const before = (await this.allowances.amounts([accountId], manager)).get(accountId) ?? ZERO;
    if (before !== amount) {
      await this.allowances.setAmount(accountId, amount, manager);
      await this.record(accountId, before, amount, manager);
    }
    await this.renewLocked(wallet, manager);
  }

  /**
   * Brings an account to the current month: expires what remains of an earlier allowance and grants what is due.
   * Idempotent.
   * @throws WalletNotFound, InvalidAmount
   */
  async renew(accountId: string, manager: EntityManager): Promise<void> {
    await this.renewLocked(await this.lock(accountId, manager), manager);
  }

  /** Ends the allowance in the transaction that deletes the account: what remains expires. */
  async close(accountId: string, manager: EntityManager): Promise<void> {
    const wallet = await this.lock(accountId, manager);
    const running = await this.allowances.running(accountId, manager);
    if (running !== null) await this.expire(wallet, running, await this.calendar.now(manager), manager);
    await this.allowances.setAmount(accountId, ZERO, manager);
  }

  private async renewLocked(wallet: WalletEntity, manager: EntityManager): Promise<void> {
    // After the lock, which may have been awaited into the next month.
    const now = await this.calendar.now(manager);
    const running = await this.allowances.running(wallet.accountId, manager);
    const emptied = running && running.month < now.month ? await this.expire(wallet, running, now, manager) : wallet;
    const amount = await this.allowances.amountDue(wallet.accountId, now.month, manager);
    if (amount !== undefined) await this.grant(emptied, amount, now, manager);
  }

  private async expire(
    wallet: WalletEntity,
    running: AllowanceMonthEntity,
    { at: createdAt }: CalendarMoment,
    manager: EntityManager,
  ): Promise<WalletEntity> {
    const left = remainingIn(running, wallet.balance);
    const expired = expiring(left.remaining, wallet);
    const id = newId('led', createdAt.getTime());
    const reason = `Not spent in ${monthName(running.month)}`;
    const movement = { wallet: nanos(-expired), owed: ZERO };
    const entry = { id, kind: 'expiry', reason, createdAt, movement } as const;
    const moved = expired > 0n ? await this.wallets.move(wallet, entry, manager) : wallet;
    const entryId = expired > 0n ? id : null;
    await this.allowances.end(running, { ...left, expired, entryId }, moved.balance, manager);
    return moved;
  }

  private async grant(
    wallet: WalletEntity,
    amount: Nanos,
    { at, month }: CalendarMoment,
    manager: EntityManager,
  ): Promise<void> {
    const movement = topUp(wallet, amount);
    if (wallet.balance + movement.wallet > MAX_AMOUNT) throw InvalidAmount.balanceOutOfRange();
    // After the expiry of the same moment, in lists ordered by time.
    const createdAt = new Date(at.getTime() + 1);
    const entryId = newId('led', createdAt.getTime());
    const entry = { id: entryId, kind: 'allowance', reason: `For ${monthName(month)}`, createdAt, movement } as const;
    const { accountId, balance: walletBalance } = await this.wallets.move(wallet, entry, manager);
    // The part that paid a debt is spent.
    const remaining = nanos(movement.wallet > 0n ? movement.wallet : 0n);
    await this.allowances.begin({ accountId, month, granted: amount, entryId, remaining, walletBalance }, manager);
  }

  private async lock(accountId: string, manager: EntityManager): Promise<WalletEntity> {
    const wallet = await this.wallets.lock(accountId, manager);
    if (!wallet) throw new WalletNotFound(accountId);
    return wallet;
  }

  private async record(id: string, before: Nanos, after: Nanos, manager: EntityManager): Promise<void> {
    const object = await this.wallets.ownerOf(id, manager);
    const lines = [`monthly allowance ${amountText(before)} → ${amountText(after)}`];
    await this.audit.record({ action: 'changed', object, lines }, manager);
  }
}

const amountText = (amount: Nanos): string => (amount === 0n ? 'none' : `$${formatUsd(amount)}`);

/** Max wait of due allowances in ms, apart from the start of a month. Tests override it. */
export class AllowancePeriod {
  readonly ms: number = 60_000;
}

/** Accounts per query. */
const PAGE = 500;

/**
 * Renews the allowances of all accounts at the start of a month and at startup; months without a running server are
 * skipped. One process at a time, one account per transaction, so that none waits for many. Accounts that were disabled
 * or failed are found by the next run.
 */
@Injectable()
export class AllowanceRenewal implements OnModuleDestroy {
  private readonly logger = new Logger('Allowances');
  private readonly work = new RecurringWork({
    run: async (stopped) => {
      await this.renewAll(stopped);
      return Math.min(this.period.ms, await this.untilNextMonthMs());
    },
    afterFailureMs: 60_000,
    report: (error) => this.logger.error(`Failed to grant allowances; retrying: ${reasonOf(error)}`),
  });

  constructor(
    private readonly dataSource: DataSource,
    private readonly allowances: AllowanceRepository,
    private readonly service: AllowanceService,
    private readonly calendar: AllowanceCalendar,
    private readonly period: AllowancePeriod,
  ) {}

  /** Called by serving processes. */
  start(): void {
    this.work.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  /** Renews due allowances, unless another process does. */
  async renewAll(stopped?: AbortSignal): Promise<void> {
    const { month } = await this.calendar.now(this.dataSource.manager);
    let accounts: readonly string[];
    let last = '';
    do {
      accounts = await this.allowances.due(month, last, PAGE);
      for (const id of accounts) {
        if (stopped?.aborted === true || !(await this.renew(id))) return;
        last = id;
      }
    } while (accounts.length === PAGE);
  }

  /** @returns whether this process held the lock */
  private async renew(id: string): Promise<boolean> {
    try {
      const renewed = await soleTransaction(this.dataSource, ADVISORY_LOCKS.allowances, async (manager) => {
        await this.service.renew(id, manager);
        return true;
      });
      return renewed ?? false;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.logger.error(`Failed to grant the allowance of account ${id}: ${reasonOf(error)}`);
      return true;
    }
  }

  private async untilNextMonthMs(): Promise<number> {
    const { at, next } = await this.calendar.now(this.dataSource.manager);
    // The database counts microseconds: one millisecond too early would find the old month.
    return next.getTime() - at.getTime() + 1;
  }
}
