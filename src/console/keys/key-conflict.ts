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
  neverStores: 'Never store answers',
};

/** What a key says now and what somebody has typed, where they are not the same. */
export const differencesOf = (now: FormBody, typed: FormBody): readonly Difference[] =>
  differencesBetween(LABELS, now, typed, shown);

/** Browsers end the lines of a text in a way of their own, and one text of several lines is a list too. */
const shown = (value: FieldValue): string =>
  typeof value === 'string' ? value.trim().replaceAll(/\s*\n\s*/g, ', ') : [...(value ?? [])].toSorted().join(', ');
