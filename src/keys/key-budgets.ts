import { formatUsd, type JsonObject, type Nanos } from '../platform/shared/index.js';

/** Periods of budgets: days, weeks from Monday, months, in UTC. */
export const BUDGET_NAMES = ['daily', 'weekly', 'monthly'] as const;
export type BudgetName = (typeof BUDGET_NAMES)[number];

/** A budget in the current period. Money in nano-dollars. */
export interface KeyBudget {
  readonly limit: Nanos;
  readonly used: Nanos;
  /** Held for running calls that were admitted in this period. */
  readonly held: Nanos;
  /** Start of the next period. */
  readonly resetsAt: Date;
}

/** Undefined: unlimited. */
export type KeyBudgets = Readonly<Record<BudgetName, KeyBudget | undefined>>;

export const NO_BUDGETS: KeyBudgets = { daily: undefined, weekly: undefined, monthly: undefined };

/** Null removes a budget, undefined keeps it. */
export type BudgetChange = Readonly<Partial<Record<BudgetName, Nanos | null | undefined>>>;

/** For API responses: amounts as decimal strings, null for unlimited. */
export const renderBudgets = ({
  daily,
  weekly,
  monthly,
}: KeyBudgets): Readonly<Record<BudgetName, JsonObject | null>> => ({
  daily: renderBudget(daily),
  weekly: renderBudget(weekly),
  monthly: renderBudget(monthly),
});

const renderBudget = (budget: KeyBudget | undefined): JsonObject | null =>
  budget === undefined
    ? null
    : {
        limit_usd: formatUsd(budget.limit),
        used_usd: formatUsd(budget.used),
        held_usd: formatUsd(budget.held),
        left_usd: formatUsd(budget.limit - budget.used - budget.held),
        resets_at: budget.resetsAt.toISOString(),
      };
