import type { Fault } from '../../../catalog/channels/index.js';
import type { Form } from '../../web/index.js';
import { faultSentence } from '../fault-sentence.js';
import { costFault } from './cost-faults.js';
import type { ChannelForm } from './channel-form.js';

type Field = keyof ChannelForm;

/** By the fields of the catalog file, those of the form, and what they are called there. */
const FIELDS: Readonly<Record<string, readonly [Field | 'flags' | 'costs', string]>> = {
  name: ['name', 'The name'],
  protocol: ['protocol', 'The protocol'],
  base_url: ['baseUrl', 'The base address'],
  auth: ['authHeader', 'The header'],
  query: ['query', 'The query'],
  headers: ['headers', 'The headers'],
  credentials: ['secret', 'The list of credentials'],
  models: ['public', 'The list of models'],
  costs: ['costs', 'The list of costs'],
  groups: ['groups', 'The list of groups'],
  tier: ['tier', 'The tier'],
  weight: ['weight', 'The weight'],
  max_concurrency: ['maxConcurrency', 'The number of calls at once'],
  'timeouts.connect_ms': ['connectMs', 'The time to connect'],
  'timeouts.first_event_ms': ['firstEventMs', 'The time to the first token'],
  'timeouts.idle_ms': ['idleMs', 'The time between two tokens'],
  'timeouts.total_ms': ['totalMs', 'The time of a call'],
  flags: ['flags', 'A flag'],
};

/** The ids of controls that are not called by their field. */
export const CONTROL_IDS: Readonly<Record<string, string>> = {
  secret: 'secret-1',
  public: 'public-1',
  flags: 'flags',
};

/** Puts each fault of the catalog file beside the field that it is in. */
export function refuse(form: Form<ChannelForm>, faults: readonly Fault[]): void {
  for (const { path, message } of faults) {
    const field = path.replace(/^channels\[0\]\.?/, '');
    const cost = costFault(form, field, message);
    if (cost !== undefined) {
      form.faults[cost.id] ??= cost.message;
      continue;
    }
    const key = Object.keys(FIELDS).find((name) => field === name || new RegExp(`^${name}[.[]`).test(field));
    const [name, label] = FIELDS[key ?? ''] ?? ['name', 'The channel'];
    form.faults[name] ??= faultSentence(label, message);
  }
}
