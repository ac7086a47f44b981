import type { GroupDefinition } from '../../../catalog/index.js';
import type { Fault } from '../../../catalog/channels/index.js';
import type { FormBody } from '../../web/index.js';
import { decimalIn, linesOf, pairsIn, textOf, wholeIn } from '../catalog-form.js';

/** What stands in the form of a new group at first. */
export const newValues = (): FormBody => ({ multiplier: '1', choice: 'everyone' });

/** A group as its form shows it. */
export const valuesOf = (group: GroupDefinition, revision: string): FormBody => ({
  name: group.name,
  multiplier: group.multiplier.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, ''),
  models: linesOf(group.models),
  description: group.description,
  choice: group.choice,
  callsPerMinute: String(group.limits.requestsPerMinute ?? ''),
  tokensPerMinute: String(group.limits.tokensPerMinute ?? ''),
  concurrency: String(group.limits.concurrency ?? ''),
  reason: '',
  revision,
});

/** A form as an entry of the catalog file; whether it is a good one, the catalog file's own checks say. */
export const entryOf = (values: FormBody, enabled: boolean): Readonly<Record<string, unknown>> => ({
  name: textOf(values, 'name'),
  multiplier: decimalIn(textOf(values, 'multiplier')),
  models: pairsIn(textOf(values, 'models')),
  description: textOf(values, 'description'),
  choice: textOf(values, 'choice'),
  enabled,
  limits: {
    requests_per_minute: wholeIn(textOf(values, 'callsPerMinute')),
    tokens_per_minute: wholeIn(textOf(values, 'tokensPerMinute')),
    concurrency: wholeIn(textOf(values, 'concurrency')),
  },
});

const FIELDS: Readonly<Record<string, string>> = {
  multiplier: 'multiplier',
  models: 'models',
  description: 'description',
  choice: 'choice',
  'limits.requests_per_minute': 'callsPerMinute',
  'limits.tokens_per_minute': 'tokensPerMinute',
  'limits.concurrency': 'concurrency',
};

/** The field that a fault is about: `groups[0].limits.concurrency` is `concurrency`. */
export const fieldOf = ({ path }: Fault): string => FIELDS[path.replace(/^groups\[0\]\./, '')] ?? 'name';

/** What is told of a field that was changed meanwhile. */
export const LABELS: Readonly<Record<string, string>> = {
  multiplier: 'Multiplier',
  models: 'Other multipliers',
  description: 'Description',
  choice: 'Who may choose it',
  callsPerMinute: 'Calls a minute',
  tokensPerMinute: 'Tokens a minute',
  concurrency: 'Calls at the same time',
};
