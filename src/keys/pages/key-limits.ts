import type { Nanos } from '../../shared/index.js';
import { quotaMeter } from '../../web/index.js';
import type { ApiKey } from '../api-key.js';

/** One limit of a key with what is used of it, as `quota-meter` draws it. */
export interface ShownLimit {
  readonly name: string;
  readonly used: Nanos;
  readonly quota: Nanos;
  readonly held: Nanos;
  readonly period: string;
  readonly meter: ReturnType<typeof quotaMeter>;
  /** When a budget begins anew. */
  readonly resetsAt: Date | undefined;
}

const BUDGETS = [
  ['daily', 'Daily budget', 'today'],
  ['weekly', 'Weekly budget', 'this week'],
  ['monthly', 'Monthly budget', 'this month'],
] as const;

/** Every limit that the key has, the quota first. */
export function limitsOf({ quota, used, held, budgets }: ApiKey): readonly ShownLimit[] {
  const total =
    quota === undefined
      ? []
      : [{ name: 'Quota', used, held, quota, period: 'in all', meter: quotaMeter(used, quota), resetsAt: undefined }];
  return BUDGETS.reduce<readonly ShownLimit[]>((limits, [name, label, period]) => {
    const budget = budgets[name];
    if (budget === undefined) return limits;
    const { limit, resetsAt } = budget;
    const meter = quotaMeter(budget.used, limit);
    return [...limits, { name: label, used: budget.used, held: budget.held, quota: limit, period, meter, resetsAt }];
  }, total);
}

/** The limit that will be met first, as far as can be told: the fullest one. */
export const fullestOf = (limits: readonly ShownLimit[]): ShownLimit | undefined =>
  limits.toSorted((one, other) => Number(other.meter.width) - Number(one.meter.width))[0];
