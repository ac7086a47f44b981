import { formatUsd, type JsonObject, type Nanos } from '../platform/shared/index.js';

/** Periods of a key's budgets: days, weeks from Monday, months, in UTC. */
export const BUDGET_NAMES = ['daily', 'weekly', 'monthly'] as const;
export type BudgetName = (typeof BUDGET_NAMES)[number];

/** Those of members and teams; the lifetime budget of a key is its quota. */
export const MEMBER_BUDGET_NAMES = ['lifetime', ...BUDGET_NAMES] as const;
export type MemberBudgetName = (typeof MEMBER_BUDGET_NAMES)[number];

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

/** What a member or team used in the current period, whether limited or not. */
export interface MemberBudget extends Pick<KeyBudget, 'used' | 'held'> {
  /** Undefined: unlimited. */
  readonly limit: Nanos | undefined;
  /** Undefined: never. */
  readonly resetsAt: Date | undefined;
}

export type MemberBudgets = Readonly<Record<MemberBudgetName, MemberBudget>>;

/** Undefined: unlimited. */
export type BudgetLimits = Readonly<Record<MemberBudgetName, Nanos | undefined>>;

/** Null removes a budget, undefined keeps it. */
export type BudgetChange<Name extends MemberBudgetName = BudgetName> = Readonly<
  Partial<Record<Name, Nanos | null | undefined>>
>;

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
