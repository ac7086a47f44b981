import type { SectionName } from '../../settings/index.js';
import type { FormBody } from '../../web/index.js';
import type { Difference } from '../catalog-form.js';

const LABELS: Readonly<Record<SectionName, Readonly<Record<string, string>>>> = {
  site: {
    name: 'Name',
    supportContact: 'Support contact',
    terms: 'Terms',
    statusIsPublic: 'Status page for everybody',
  },
  signUp: { mode: 'Who may register', domains: 'Domains', startingCredit: 'Starting credit' },
  mail: { server: 'Server', from: 'Sender' },
  retention: { callsMonths: 'Months of calls' },
};

/** What a section says now and what somebody has typed, where they are not the same. */
export const differencesOf = (section: SectionName, now: FormBody, typed: FormBody): readonly Difference[] =>
  differencesBetween(LABELS[section], now, typed);

/** The same of any fields. Those that were not sent are none. */
export const differencesBetween = (
  labels: Readonly<Record<string, string>>,
  now: FormBody,
  typed: FormBody,
): readonly Difference[] =>
  Object.entries(labels)
    // A box that is not ticked is not sent.
    .filter(([name]) => name in typed || name === 'statusIsPublic')
    .map(([name, label]) => ({ label, now: shown(now[name]), yours: shown(typed[name]) }))
    .filter((field) => field.now !== field.yours);

/** Browsers end the lines of a text in a way of their own. */
const shown = (value: string | readonly string[] | undefined): string =>
  String(value ?? '')
    .trim()
    .replaceAll('\r\n', '\n') || '–';
