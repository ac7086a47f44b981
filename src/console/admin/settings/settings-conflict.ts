import type { SectionName } from '../../../platform/settings/index.js';
import { type Difference, differencesBetween, type FieldValue, type FormBody } from '../../web/index.js';

/** Checkboxes: not sent when cleared. */
const BOXES: readonly string[] = ['statusIsPublic', 'administratorsNeedSecondFactor', 'enabled'];

const LABELS: Readonly<Record<SectionName, Readonly<Record<string, string>>>> = {
  site: {
    name: 'Name',
    supportContact: 'Support contact',
    terms: 'Terms',
    statusIsPublic: 'Public status page',
  },
  signUp: {
    mode: 'Registration',
    domains: 'Allowed email domains',
    startingCredit: 'Starting credit',
    administratorsNeedSecondFactor: 'Require two-factor authentication for administrators',
    sessionIdleHours: 'Idle session timeout',
  },
  mail: { server: 'SMTP server', from: 'Sender' },
  payment: {
    enabled: 'Payments',
    amounts: 'Amounts',
    smallest: 'Minimum custom amount',
    largest: 'Maximum custom amount',
  },
  retention: { callsMonths: 'Months to keep' },
};

/** Differences between stored and typed values of a section. */
export const differencesOf = (section: SectionName, now: FormBody, typed: FormBody): readonly Difference[] =>
  sentDifferences(LABELS[section], now, typed);

/** Differences between stored and typed values; fields that were not sent are ignored. */
export function sentDifferences(
  labels: Readonly<Record<string, string>>,
  now: FormBody,
  typed: FormBody,
): readonly Difference[] {
  const sent = Object.entries(labels).filter(([name]) => name in typed || BOXES.includes(name));
  return differencesBetween(Object.fromEntries(sent), now, typed, shown);
}

/** Browsers send CRLF line endings. */
const shown = (value: FieldValue): string =>
  String(value ?? '')
    .trim()
    .replaceAll('\r\n', '\n');
