import type { CatalogGroup, OfferedModel } from '../../catalog/index.js';
import { highlighted, patchPanel, sampleCall, STORE_KEY } from '../../web/index.js';
import type { Dialect } from '../dialects.js';
import { endpointsOf } from '../endpoints.js';
import { receiptOf } from './receipt.js';

/** What whoever is not signed in finds here. */
export interface Offered {
  /** Of the group that new accounts are in; undefined before there is any. */
  readonly group: CatalogGroup | undefined;
  /** Newest first. */
  readonly models: readonly OfferedModel[];
  readonly dialects: readonly Dialect[];
  /** Where people reach the service, without a trailing slash. */
  readonly base: string;
}

/** Before there are models, the call is written with a name that stands for any. */
const ANY_MODEL: Answering = { name: 'MODEL', answers: ['responses'] };

export function landingView({ group, models, dialects, base }: Offered) {
  const answering = models.map(({ model, protocols }) => ({
    name: model.name,
    answers: endpointsOf(protocols, dialects).map(({ id }) => id),
  }));
  return {
    panel: patchPanel(dialects, answering),
    quickStart: highlighted(quickStart([...answering, ANY_MODEL], dialects, base), 'shell'),
    addresses: dialects,
    receipt: group && receiptOf(models, group),
  };
}

interface Answering {
  readonly name: string;
  readonly answers: readonly string[];
}

/** An address, a key, and a call in the first dialect in which anything answers. */
function quickStart(models: readonly Answering[], dialects: readonly Dialect[], base: string): string {
  const calls = models.flatMap(({ name, answers }) =>
    dialects.filter(({ id }) => answers.includes(id)).map(({ id }) => sampleCall(id, name, '$SWITCHBOARD_URL')),
  );
  return `# 1  one address
export SWITCHBOARD_URL="${base}"
# 2  one key: paste it once, it stays out of your history
${STORE_KEY}
# 3  any model
${calls.find((call) => call !== undefined) ?? ''}`;
}
