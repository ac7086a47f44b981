import type { EntryError } from '../../../catalog/channels/index.js';
import type { Form } from '../../web/index.js';
import { errorSentence } from '../error-sentence.js';
import { costError } from './cost-errors.js';
import type { ChannelForm } from './channel-form.js';

type Field = keyof ChannelForm;

/** Form fields and their names in error messages, by field of the catalog file. */
const FIELDS: Readonly<Record<string, readonly [Field | 'flags' | 'costs', string]>> = {
  name: ['name', 'The name'],
  protocol: ['protocol', 'The protocol'],
  base_url: ['baseUrl', 'The base URL'],
  auth: ['authHeader', 'The header'],
  query: ['query', 'The query parameters'],
  headers: ['headers', 'The headers'],
  credentials: ['secret', 'The list of credentials'],
  models: ['public', 'The list of models'],
  costs: ['costs', 'The list of costs'],
  groups: ['groups', 'The list of groups'],
  tier: ['tier', 'The tier'],
  weight: ['weight', 'The weight'],
  max_concurrency: ['maxConcurrency', 'The limit of concurrent calls'],
  'timeouts.connect_ms': ['connectMs', 'The connect timeout'],
  'timeouts.first_event_ms': ['firstEventMs', 'The first-token timeout'],
  'timeouts.idle_ms': ['idleMs', 'The idle timeout'],
  'timeouts.total_ms': ['totalMs', 'The total timeout'],
  flags: ['flags', 'A flag'],
};

/** Control ids that differ from the field name. */
export const CONTROL_IDS: Readonly<Record<string, string>> = {
  secret: 'secret-1',
  public: 'public-1',
  flags: 'flags',
};

/** Adds catalog file errors to the form fields. */
export function refuse(form: Form<ChannelForm>, faults: readonly EntryError[]): void {
  for (const { path, message } of faults) {
    const field = path.replace(/^channels\[0\]\.?/, '');
    const cost = costError(form, field, message);
    if (cost !== undefined) {
      form.faults[cost.id] ??= cost.message;
      continue;
    }
    const key = Object.keys(FIELDS).find((name) => field === name || new RegExp(`^${name}[.[]`).test(field));
    const [name, label] = FIELDS[key ?? ''] ?? ['name', 'The channel'];
    form.faults[name] ??= errorSentence(label, message);
  }
}
