import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type Nanos, nanos } from '../platform/shared/index.js';
import { BudgetNotPossible } from './api-key.errors.js';
import { possibleBudget } from './api-key.js';
import {
  type BudgetChange,
  type KeyBudgets,
  MEMBER_BUDGET_NAMES,
  type MemberBudget,
  type MemberBudgetName,
  type MemberBudgets,
  NO_BUDGETS,
} from './budgets.js';

/** Stored names of periods, and the columns of their limits, which keys, members and teams share. */
const STORED = {
  lifetime: { period: 'lifetime', column: 'quota' },
  daily: { period: 'day', column: 'daily_budget' },
  weekly: { period: 'week', column: 'weekly_budget' },
  monthly: { period: 'month', column: 'monthly_budget' },
} as const satisfies Record<MemberBudgetName, { period: string; column: string }>;

const TABLES = { key: 'api_keys', member: 'members', team: 'teams' } as const;

/** Whose budgets. The lifetime budget of a key is its quota, which is not a row. */
export interface BudgetHolder {
  readonly kind: keyof typeof TABLES;
  readonly id: string;
}

/** Limits as stored; null: unlimited. */
type StoredLimits = Readonly<Partial<Record<MemberBudgetName, Nanos | null>>>;

interface BudgetRow<Limit extends string | null> extends Readonly<Record<'holderId' | 'used' | 'held', string>> {
  readonly name: MemberBudgetName;
  readonly limit: Limit;
  readonly resetsAt: Date | null;
}

/** A period without admitted calls has no row; its limit is the holder's. */
const CURRENT = (table: string, periods: string): string => `
  SELECT h.id AS "holderId", p.name, p.budget AS "limit", coalesce(b.used, 0) AS used, coalesce(b.held, 0) AS held,
         CASE WHEN p.period <> 'lifetime' THEN
           (budget_period_start(p.period, now()) + ('1 ' || p.period)::interval) AT TIME ZONE 'UTC' END AS "resetsAt"
    FROM ${table} h
   CROSS JOIN LATERAL (VALUES ${periods}) AS p (name, period, budget)
    LEFT JOIN budgets b
      ON b.holder_id = h.id AND b.period = p.period AND b.period_start = budget_period_start(p.period, now())
   WHERE h.id = ANY ($1::text[])`;

const PERIODS = `('daily', 'day', h.daily_budget), ('weekly', 'week', h.weekly_budget),
                 ('monthly', 'month', h.monthly_budget)`;
const OF_KEYS = `${CURRENT('api_keys', PERIODS)} AND p.budget IS NOT NULL`;
const OF_MEMBERS = (table: string): string => CURRENT(table, `('lifetime', 'lifetime', h.quota), ${PERIODS}`);

/** The current period, and the next one if it began during this transaction. */
const OF_NOW = 'holder_id = $1 AND period = $2 AND period_start >= budget_period_start($2, now())';

const LOCK = `SELECT used, held FROM budgets WHERE ${OF_NOW} ORDER BY period_start FOR UPDATE`;
const LIMIT = `UPDATE budgets SET "limit" = $3 WHERE ${OF_NOW}`;

/**
 * Budgets as owners and administrators manage them. Calls use them through admission and settlement, which lock wallets,
 * then keys, then budgets: changes need the lock of the key, or of the organization's wallet.
 */
@Injectable()
export class BudgetStore {
  constructor(private readonly dataSource: DataSource) {}

  /** By key ID; keys without budgets are missing. */
  async of(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyBudgets>> {
    const rows = await this.dataSource.query<(BudgetRow<string> & { resetsAt: Date })[]>(OF_KEYS, [keyIds]);
    const ofKeys = new Map<string, KeyBudgets>();
    for (const { holderId, name, resetsAt, ...amounts } of rows)
      ofKeys.set(holderId, {
        ...(ofKeys.get(holderId) ?? NO_BUDGETS),
        [name]: { limit: money(amounts.limit), used: money(amounts.used), held: money(amounts.held), resetsAt },
      });
    return ofKeys;
  }

  /** By the ID of the member or team. */
  async ofHolders(kind: 'member' | 'team', ids: readonly string[]): Promise<ReadonlyMap<string, MemberBudgets>> {
    const rows = await this.dataSource.query<BudgetRow<string | null>[]>(OF_MEMBERS(TABLES[kind]), [ids]);
    const ofHolders = new Map<string, MemberBudgets>();
    for (const row of rows)
      ofHolders.set(row.holderId, {
        ...(ofHolders.get(row.holderId) ?? NOTHING_USED),
        [row.name]: memberBudgetOf(row),
      });
    return ofHolders;
  }

  /**
   * Sets or removes budgets, for the current and all following periods.
   * @param before limits that the holder has
   * @throws BudgetNotPossible naming the figures
   */
  async change(
    holder: BudgetHolder,
    before: StoredLimits,
    change: BudgetChange<MemberBudgetName>,
    manager: EntityManager,
  ): Promise<void> {
    for (const name of MEMBER_BUDGET_NAMES) {
      const limit = change[name];
      if (limit !== undefined && limit !== before[name]) await this.write(holder, name, limit, manager);
    }
  }

  private async write(
    { kind, id }: BudgetHolder,
    name: MemberBudgetName,
    limit: Nanos | null,
    manager: EntityManager,
  ): Promise<void> {
    possibleBudget(name, limit);
    const { period, column } = STORED[name];
    for (const row of await manager.query<Record<'used' | 'held', string>[]>(LOCK, [id, period])) {
      const [used, held] = [money(row.used), money(row.held)];
      if (limit !== null && limit < used + held) throw BudgetNotPossible.belowUse(name, limit, used, held);
    }
    await manager.query(LIMIT, [id, period, limit]);
    const sql = `UPDATE ${TABLES[kind]} SET ${column} = $2, version = version + 1 WHERE id = $1`;
    await manager.query(sql, [id, limit]);
  }
}

const money = (text: string): Nanos => nanos(BigInt(text));

const UNUSED: MemberBudget = { limit: undefined, used: nanos(0n), held: nanos(0n), resetsAt: undefined };
const NOTHING_USED: MemberBudgets = { lifetime: UNUSED, daily: UNUSED, weekly: UNUSED, monthly: UNUSED };

const memberBudgetOf = ({ limit, used, held, resetsAt }: BudgetRow<string | null>): MemberBudget => ({
  limit: limit === null ? undefined : money(limit),
  used: money(used),
  held: money(held),
  resetsAt: resetsAt ?? undefined,
});
