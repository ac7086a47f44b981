import { hash } from 'node:crypto';
import { describeLimits, type Limits } from '../platform/limits/index.js';
import type { Account } from './account.js';

/** What an account's calls are billed under, and how many there may be. */
export type AccountTerms = Pick<Account, 'groupName' | 'limits'>;

const REVISION_CHARACTERS = 22;

/** Short text that is another one as soon as any of the terms is: a form carries that of the terms it was opened on. */
export function termsRevision({ groupName, limits }: AccountTerms): string {
  const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
  const terms = [groupName ?? null, requestsPerMinute ?? null, tokensPerMinute ?? null, concurrency ?? null];
  return hash('sha256', JSON.stringify(terms), 'base64url').slice(0, REVISION_CHARACTERS);
}

/** `group default → saver`, a line for each of the two that differs. */
export function termDifferences(before: AccountTerms, after: AccountTerms): readonly string[] {
  const lines = [
    ['group', before.groupName ?? 'default', after.groupName ?? 'default'],
    ['limits', limitText(before.limits), limitText(after.limits)],
  ] as const;
  return lines.filter(([, was, is]) => was !== is).map(([name, was, is]) => `${name} ${was} → ${is}`);
}

const limitText = (limits: Limits): string => describeLimits(limits) || 'as usual';
