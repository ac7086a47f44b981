import type { GroupDefinition } from '../../../catalog/index.js';
import type { EntryError } from '../../../catalog/channels/index.js';
import type { FormBody } from '../../web/index.js';
import { decimalIn, linesOf, pairsIn, textOf, wholeIn } from '../catalog-form.js';

/** Initial form values of a new group. */
export const newValues = (): FormBody => ({ multiplier: '1', choice: 'everyone' });

/** Form values of a stored group. */
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

/** The form as a catalog file entry, to be validated by the catalog file's checks. */
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

/** The field of an error path: `groups[0].limits.concurrency` is `concurrency`. */
export const fieldOf = ({ path }: EntryError): string => FIELDS[path.replace(/^groups\[0\]\./, '')] ?? 'name';

/** Labels of fields with conflicting changes. */
export const LABELS: Readonly<Record<string, string>> = {
  multiplier: 'Multiplier',
  models: 'Per-model multipliers',
  description: 'Description',
  choice: 'Available to',
  callsPerMinute: 'Calls per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrency: 'Concurrent calls',
};
