import { describeLimits, limitsIn } from '../platform/limits/index.js';
import { formatUsd, type Nanos } from '../platform/shared/index.js';
import type { ApiKeyEntity } from './api-key.entity.js';

const dollars = (amount: Nanos | null): string => (amount === null ? 'none' : `$${formatUsd(amount)}`);
const list = (items: readonly string[] | null, none: string): string => items?.join(', ') ?? none;
const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no');

/** What is said of a key, in the words of its pages. Its state is told as what was done. */
const FACTS: readonly (readonly [string, (row: ApiKeyEntity) => string])[] = [
  ['name', ({ name }) => name],
  ['group', ({ groupName }) => groupName ?? "the account's"],
  ['quota', ({ quota }) => dollars(quota)],
  ['daily budget', ({ dailyBudget }) => dollars(dailyBudget)],
  ['weekly budget', ({ weeklyBudget }) => dollars(weeklyBudget)],
  ['monthly budget', ({ monthlyBudget }) => dollars(monthlyBudget)],
  ['limits', ({ limits }) => describeLimits(limitsIn(limits)) || 'none'],
  ['networks', ({ networks }) => list(networks, 'any')],
  ['models', ({ models }) => list(models, 'all in the group')],
  ['expires', ({ expiresAt }) => expiresAt?.toISOString() ?? 'never'],
  ['strict', ({ strict }) => yesOrNo(strict)],
  ['never stores answers', ({ neverStores }) => yesOrNo(neverStores)],
];

/** `quota $5 → $10`, a line for each fact that is another one now. */
export const keyDifferences = (before: ApiKeyEntity, after: ApiKeyEntity): readonly string[] =>
  FACTS.map(([label, told]) => [label, told(before), told(after)] as const)
    .filter(([, was, is]) => was !== is)
    .map(([label, was, is]) => `${label} ${was} → ${is}`);
