import { formatUsd, type JsonObject, type Nanos } from '../platform/shared/index.js';

/** A key can have a budget for each of these periods. Days, weeks from Monday on, months, all in UTC. */
export const BUDGET_NAMES = ['daily', 'weekly', 'monthly'] as const;
export type BudgetName = (typeof BUDGET_NAMES)[number];

/** A budget in the period that runs now. Money in nano-dollars. */
export interface KeyBudget {
  readonly limit: Nanos;
  readonly used: Nanos;
  /** On hold for running calls that were admitted in this period. */
  readonly held: Nanos;
  /** When the next period begins. */
  readonly resetsAt: Date;
}

/** Undefined: no such limit. */
export type KeyBudgets = Readonly<Record<BudgetName, KeyBudget | undefined>>;

export const NO_BUDGETS: KeyBudgets = { daily: undefined, weekly: undefined, monthly: undefined };

/** What budgets are to be; null lifts one, undefined leaves it as it is. */
export type BudgetChange = Readonly<Partial<Record<BudgetName, Nanos | null | undefined>>>;

/** As programs read them: amounts as decimal strings, null where there is no such limit. */
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
