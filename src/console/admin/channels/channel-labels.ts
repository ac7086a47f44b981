import type { Form } from '../../web/index.js';
import { costId } from './channel-costs.js';
import type { ChannelForm } from './channel-form.js';
import { COST_COLUMNS } from './cost-columns.js';
import { servedIn } from './model-rows.js';

/** Labels of the channel form's fields, by name. */
export const FIELD_LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  protocol: 'Protocol',
  baseUrl: 'Base URL',
  auth: 'Authentication',
  authHeader: 'Header name',
  query: 'Query parameters',
  headers: 'Request headers',
  public: 'Public names',
  upstream: 'Upstream names',
  groups: 'Groups',
  tier: 'Tier',
  weight: 'Weight',
  maxConcurrency: 'Concurrent calls',
  connectMs: 'Connect timeout',
  firstEventMs: 'First-token timeout',
  idleMs: 'Idle timeout',
  totalMs: 'Total timeout',
};

/** Fields that are not compared when changes conflict. */
const OTHER_LABELS: Readonly<Record<string, string>> = {
  secret: 'Credentials',
  flags: 'Flags',
  costs: 'Upstream costs',
  password: 'Your password',
};

/** Labels of the fields with errors. */
export function refusedLabels(form: Form<ChannelForm>): string {
  const costs = servedIn(form.values).flatMap((model, index) =>
    COST_COLUMNS.map(({ name, label }): [string, string] => [costId(index + 1, name), `${label} of ${model}`]),
  );
  const labels = new Map([...Object.entries({ ...FIELD_LABELS, ...OTHER_LABELS }), ...costs]);
  return [...new Set(Object.keys(form.faults).map((field) => labels.get(field) ?? 'Channel'))].join(', ');
}
