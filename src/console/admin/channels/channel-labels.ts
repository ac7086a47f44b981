import type { Form } from '../../web/index.js';
import { costId } from './channel-costs.js';
import type { ChannelForm } from './channel-form.js';
import { COST_COLUMNS } from './cost-columns.js';
import { servedIn } from './model-rows.js';

/** What the fields of a channel's form are called, by their names. */
export const FIELD_LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  protocol: 'Protocol',
  baseUrl: 'Base address',
  auth: 'Credential goes',
  authHeader: 'Header',
  query: 'Query',
  headers: 'Headers',
  public: 'Public names',
  upstream: 'Upstream names',
  groups: 'Groups',
  tier: 'Tier',
  weight: 'Weight',
  maxConcurrency: 'Calls at once',
  connectMs: 'Connect timeout',
  firstEventMs: 'First-token timeout',
  idleMs: 'Longest pause within an answer',
  totalMs: 'Longest call',
};

/** Fields that two people cannot have set to different values, or not field by field. */
const OTHER_LABELS: Readonly<Record<string, string>> = {
  secret: 'Credentials',
  flags: 'Flags',
  costs: 'What the upstream charges',
  password: 'Your password',
};

/** The fields of a form that were refused, as they are called on its page. */
export function refusedLabels(form: Form<ChannelForm>): string {
  const costs = servedIn(form.values).flatMap((model, index) =>
    COST_COLUMNS.map(({ name, label }): [string, string] => [costId(index + 1, name), `${label} of ${model}`]),
  );
  const labels = new Map([...Object.entries({ ...FIELD_LABELS, ...OTHER_LABELS }), ...costs]);
  return [...new Set(Object.keys(form.faults).map((field) => labels.get(field) ?? 'Channel'))].join(', ');
}
