import type { FormBody } from '../../web/index.js';

/** A field that two people have set to different values. */
interface Difference {
  readonly label: string;
  readonly now: string;
  readonly yours: string;
}

const LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  group: 'Group',
  quota: 'Quota',
  daily: 'Daily budget',
  weekly: 'Weekly budget',
  monthly: 'Monthly budget',
  callsPerMinute: 'Calls a minute',
  tokensPerMinute: 'Tokens a minute',
  concurrency: 'Calls at the same time',
  expires: 'Expires',
  models: 'Models',
  networks: 'Allowed addresses',
  strict: 'Strict',
  neverStores: 'Never store answers',
};

/** What a key says now and what somebody has typed, where they are not the same. */
export const differencesOf = (now: FormBody, typed: FormBody): readonly Difference[] =>
  Object.entries(LABELS)
    .map(([name, label]) => ({ label, now: shown(now[name]), yours: shown(typed[name]) }))
    .filter((field) => field.now !== field.yours);

function shown(value: string | readonly string[] | undefined): string {
  // Browsers end the lines of a text in a way of their own.
  const text =
    typeof value === 'string' ? value.trim().replaceAll(/\s*\n\s*/g, ', ') : [...(value ?? [])].toSorted().join(', ');
  return text === '' ? '–' : text;
}
