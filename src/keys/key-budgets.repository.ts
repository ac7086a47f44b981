import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type Nanos, nanos } from '../platform/shared/index.js';
import { ApiKeyEntity } from './api-key.entity.js';
import { type BudgetName, type KeyBudget, type KeyBudgets, NO_BUDGETS } from './key-budgets.js';

/** How the rows of a budget call its period, and the key its limit. */
const STORED = {
  daily: { period: 'day', column: 'dailyBudget' },
  weekly: { period: 'week', column: 'weeklyBudget' },
  monthly: { period: 'month', column: 'monthlyBudget' },
} as const satisfies Record<BudgetName, { period: string; column: keyof ApiKeyEntity }>;

interface BudgetRow extends Readonly<Record<'keyId' | 'limit' | 'used' | 'held', string>> {
  readonly name: BudgetName;
  readonly resetsAt: Date;
}

/** A period that nothing was admitted in yet has no row, and its limit is the key's. */
const CURRENT = `
  SELECT k.id AS "keyId", p.name, p.budget AS "limit", coalesce(b.used, 0) AS used, coalesce(b.held, 0) AS held,
         (budget_period_start(p.period, now()) + ('1 ' || p.period)::interval) AT TIME ZONE 'UTC' AS "resetsAt"
    FROM api_keys k
   CROSS JOIN LATERAL (VALUES ('daily', 'day', k.daily_budget), ('weekly', 'week', k.weekly_budget),
                              ('monthly', 'month', k.monthly_budget)) AS p (name, period, budget)
    LEFT JOIN key_budgets b
      ON b.key_id = k.id AND b.period = p.period AND b.period_start = budget_period_start(p.period, now())
   WHERE k.id = ANY ($1::text[]) AND p.budget IS NOT NULL`;

/** The period that runs now, and the one that has begun meanwhile if this transaction began before it. */
const OF_NOW = 'key_id = $1 AND period = $2 AND period_start >= budget_period_start($2, now())';

const LOCK = `SELECT used, held FROM key_budgets WHERE ${OF_NOW} ORDER BY period_start FOR UPDATE`;
const LIMIT = `UPDATE key_budgets SET "limit" = $3 WHERE ${OF_NOW}`;

/** Budgets as their owners and the operator manage them; what calls use of them is admitted and settled elsewhere. */
@Injectable()
export class KeyBudgetsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** By key id; a key without budgets has no entry. */
  async of(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyBudgets>> {
    const rows = await this.dataSource.query<BudgetRow[]>(CURRENT, [keyIds]);
    const ofKeys = new Map<string, KeyBudgets>();
    for (const row of rows)
      ofKeys.set(row.keyId, { ...(ofKeys.get(row.keyId) ?? NO_BUDGETS), [row.name]: budgetIn(row) });
    return ofKeys;
  }

  /** What is used and held of it now. The key is locked by whoever asks: keys come before their budgets. */
  async lock(
    keyId: string,
    name: BudgetName,
    manager: EntityManager,
  ): Promise<readonly { readonly used: Nanos; readonly held: Nanos }[]> {
    const rows = await manager.query<{ used: string; held: string }[]>(LOCK, [keyId, STORED[name].period]);
    return rows.map(({ used, held }) => ({ used: money(used), held: money(held) }));
  }

  /** For the period that runs and all that follow. */
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
