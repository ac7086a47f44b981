import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type Nanos, nanos } from '../platform/shared/index.js';
import { ApiKeyEntity } from './api-key.entity.js';
import { type BudgetName, type KeyBudget, type KeyBudgets, NO_BUDGETS } from './key-budgets.js';

/** Stored names of periods, and the columns of their limits. */
const STORED = {
  daily: { period: 'day', column: 'dailyBudget' },
  weekly: { period: 'week', column: 'weeklyBudget' },
  monthly: { period: 'month', column: 'monthlyBudget' },
} as const satisfies Record<BudgetName, { period: string; column: keyof ApiKeyEntity }>;

interface BudgetRow extends Readonly<Record<'keyId' | 'limit' | 'used' | 'held', string>> {
  readonly name: BudgetName;
  readonly resetsAt: Date;
}

/** A period without admitted calls has no row; its limit is the key's. */
const CURRENT = `
  SELECT k.id AS "keyId", p.name, p.budget AS "limit", coalesce(b.used, 0) AS used, coalesce(b.held, 0) AS held,
         (budget_period_start(p.period, now()) + ('1 ' || p.period)::interval) AT TIME ZONE 'UTC' AS "resetsAt"
    FROM api_keys k
   CROSS JOIN LATERAL (VALUES ('daily', 'day', k.daily_budget), ('weekly', 'week', k.weekly_budget),
                              ('monthly', 'month', k.monthly_budget)) AS p (name, period, budget)
    LEFT JOIN budgets b
      ON b.holder_id = k.id AND b.period = p.period AND b.period_start = budget_period_start(p.period, now())
   WHERE k.id = ANY ($1::text[]) AND p.budget IS NOT NULL`;

/** The current period, and the next one if it began during this transaction. */
const OF_NOW = 'holder_id = $1 AND period = $2 AND period_start >= budget_period_start($2, now())';

const LOCK = `SELECT used, held FROM budgets WHERE ${OF_NOW} ORDER BY period_start FOR UPDATE`;
const LIMIT = `UPDATE budgets SET "limit" = $3 WHERE ${OF_NOW}`;

/** Budgets as owners and administrators manage them. Calls use them through admission and settlement. */
@Injectable()
export class KeyBudgetsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** By key ID; keys without budgets are missing. */
  async of(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyBudgets>> {
    const rows = await this.dataSource.query<BudgetRow[]>(CURRENT, [keyIds]);
    const ofKeys = new Map<string, KeyBudgets>();
    for (const row of rows)
      ofKeys.set(row.keyId, { ...(ofKeys.get(row.keyId) ?? NO_BUDGETS), [row.name]: budgetIn(row) });
    return ofKeys;
  }

  /** Returns what is used and held now. The caller must have locked the key: keys are locked before budgets. */
  async lock(
    keyId: string,
    name: BudgetName,
    manager: EntityManager,
  ): Promise<readonly { readonly used: Nanos; readonly held: Nanos }[]> {
    const rows = await manager.query<{ used: string; held: string }[]>(LOCK, [keyId, STORED[name].period]);
    return rows.map(({ used, held }) => ({ used: money(used), held: money(held) }));
  }

  /** Applies to the current and all following periods. */
  async set(keyId: string, name: BudgetName, limit: Nanos | null, manager: EntityManager): Promise<void> {
    const { period, column } = STORED[name];
    await manager.query(LIMIT, [keyId, period, limit]);
    await manager.update(ApiKeyEntity, { id: keyId }, { [column]: limit, version: () => 'version + 1' });
  }
}

const money = (text: string): Nanos => nanos(BigInt(text));

const budgetIn = ({ limit, used, held, resetsAt }: BudgetRow): KeyBudget => ({
  limit: money(limit),
  used: money(used),
  held: money(held),
  resetsAt,
});
