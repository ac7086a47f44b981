import type { Nanos } from '../../platform/shared/index.js';
import { quotaMeter } from '../web/index.js';
import type { ApiKey } from '../../keys/index.js';

/** One limit of a key with what is used of it, as `quota-meter` draws it. */
export interface LimitView {
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
export const limitsOf = ({ quota, used, held, budgets }: ApiKey): readonly LimitView[] => [
  ...(quota === undefined ? [] : [shownLimit('Quota', { limit: quota, used, held }, 'in all')]),
  ...BUDGETS.flatMap(([name, label, period]) => {
    const budget = budgets[name];
    return budget === undefined ? [] : [shownLimit(label, budget, period)];
  }),
];

interface Limit {
  readonly limit: Nanos;
  readonly used: Nanos;
  readonly held: Nanos;
  readonly resetsAt?: Date;
}

const shownLimit = (name: string, { limit, used, held, resetsAt }: Limit, period: string): LimitView => ({
  name,
  used,
  held,
  quota: limit,
  period,
  meter: quotaMeter(used, limit),
  resetsAt,
});

/** The limit that will be met first, as far as can be told: the fullest one. */
export const fullestOf = (limits: readonly LimitView[]): LimitView | undefined =>
  limits.toSorted((one, other) => Number(other.meter.width) - Number(one.meter.width))[0];
