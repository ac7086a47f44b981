import { type Difference, differencesBetween, type FieldValue, type FormBody } from '../web/index.js';

const LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  group: 'Group',
  quota: 'Quota',
  daily: 'Daily budget',
  weekly: 'Weekly budget',
  monthly: 'Monthly budget',
  callsPerMinute: 'Calls per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrency: 'Concurrent calls',
  expires: 'Expires',
  models: 'Models',
  networks: 'Allowed addresses',
  strict: 'Strict',
  neverStores: 'Never store responses',
};

/** Fields whose submitted value differs from the stored one. */
export const differencesOf = (now: FormBody, typed: FormBody): readonly Difference[] =>
  differencesBetween(LABELS, now, typed, shown);

/** Normalizes line endings, and shows multi-line text as a list. */
const shown = (value: FieldValue): string =>
  typeof value === 'string' ? value.trim().replaceAll(/\s*\n\s*/g, ', ') : [...(value ?? [])].toSorted().join(', ');
