import type { SectionName } from '../../../platform/settings/index.js';
import { type Difference, differencesBetween, type FieldValue, type FormBody } from '../../web/index.js';

/** Boxes: one that is not ticked is not sent. */
const BOXES: readonly string[] = ['statusIsPublic', 'administratorsNeedSecondFactor', 'enabled'];

const LABELS: Readonly<Record<SectionName, Readonly<Record<string, string>>>> = {
  site: {
    name: 'Name',
    supportContact: 'Support contact',
    terms: 'Terms',
    statusIsPublic: 'Status page for everybody',
  },
  signUp: {
    mode: 'Who may register',
    domains: 'Domains',
    startingCredit: 'Starting credit',
    administratorsNeedSecondFactor: 'Administrators need a second factor',
    sessionIdleHours: 'Hours without a visit',
  },
  mail: { server: 'Server', from: 'Sender' },
  payment: {
    enabled: 'Payments',
    amounts: 'Amounts',
    smallest: 'Smallest other amount',
    largest: 'Largest other amount',
  },
  retention: { callsMonths: 'Months of calls' },
};

/** What a section says now and what somebody has typed, where they are not the same. */
export const differencesOf = (section: SectionName, now: FormBody, typed: FormBody): readonly Difference[] =>
  sentDifferences(LABELS[section], now, typed);

/** The same of any fields. Those that were not sent are none. */
export function sentDifferences(
  labels: Readonly<Record<string, string>>,
  now: FormBody,
  typed: FormBody,
): readonly Difference[] {
  const sent = Object.entries(labels).filter(([name]) => name in typed || BOXES.includes(name));
  return differencesBetween(Object.fromEntries(sent), now, typed, shown);
}

/** Browsers end the lines of a text in a way of their own. */
const shown = (value: FieldValue): string =>
  String(value ?? '')
    .trim()
    .replaceAll('\r\n', '\n');
