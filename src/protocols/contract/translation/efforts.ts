import { EFFORTS, type Effort } from '../call.js';
import type { ReasoningRequest } from './content.js';

/** Budgets of thinking tokens up to which an effort is meant. */
const BUDGETS: readonly (readonly [limit: number, effort: Effort])[] = [
  [4096, 'low'],
  [16_384, 'medium'],
  [32_768, 'high'],
];

/** The effort that a budget of thinking tokens amounts to. */
export const effortOfBudget = (budget: number): Effort => BUDGETS.find(([limit]) => budget <= limit)?.[1] ?? 'xhigh';

/** The effort that a client wishes, for dialects that have no other word for it; undefined leaves it to the model. */
export function requestedEffort({ effort, budget, thinking }: ReasoningRequest): Effort | undefined {
  if (thinking === 'off') return 'none';
  return effort ?? (budget === undefined ? undefined : effortOfBudget(budget));
}

/**
 * What comes nearest to an effort among those that a model knows, lower ones first; undefined when there is nothing to
 * compare it with.
 */
export function nearestEffort(effort: Effort, known: readonly Effort[]): Effort | undefined {
  if (known.includes(effort)) return effort;
  const wished = rank(effort);
  if (wished === -1) return undefined;
  const ranked = known.filter((other) => rank(other) !== -1).toSorted((one, other) => rank(one) - rank(other));
  return ranked.findLast((other) => rank(other) < wished) ?? ranked[0];
}

const rank = (effort: Effort): number => (EFFORTS as readonly Effort[]).indexOf(effort);
