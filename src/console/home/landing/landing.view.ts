import type { CatalogGroup, OfferedModel } from '../../../catalog/index.js';
import { highlighted, patchPanel, sampleCall, STORE_KEY } from '../../web/index.js';
import type { ProtocolEndpoint } from '../protocol-endpoints.js';
import { endpointsOf } from '../endpoints.js';
import { receiptOf } from './receipt.js';

/** What whoever is not signed in finds here. */
export interface Offered {
  /** Of the group that new accounts are in; undefined before there is any. */
  readonly group: CatalogGroup | undefined;
  /** Newest first. */
  readonly models: readonly OfferedModel[];
  readonly dialects: readonly ProtocolEndpoint[];
  /** Where people reach the service, without a trailing slash. */
  readonly base: string;
}

/** Before there are models, the call is written with a name that stands for any. */
const ANY_MODEL: Answering = { name: 'MODEL', answers: ['responses'] };

export function landingView({ group, models, dialects, base }: Offered) {
  const answering = models.map((offered) => ({
    name: offered.model.name,
    answers: endpointsOf(offered, dialects).map(({ id }) => id),
  }));
  return {
    panel: patchPanel(dialects, answering),
    // Apart from the call: pasted together, it would read the line that follows it for the key.
    storeKey: highlighted(STORE_KEY, 'shell'),
    firstCall: highlighted(firstCall([...answering, ANY_MODEL], base), 'shell'),
    addresses: dialects,
    answersAll: answering.every(({ answers }) => answers.length === dialects.length),
    receipt: group && receiptOf(models, group),
  };
}

interface Answering {
  readonly name: string;
  /** Ids of dialects, in which calls go up as they are first. */
  readonly answers: readonly string[];
}

/** A call of the newest model, in a dialect that its upstream speaks. */
function firstCall(models: readonly Answering[], base: string): string {
  const calls = models.flatMap(({ name, answers }) => answers.map((id) => sampleCall(id, name, base)));
  return calls.find((call) => call !== undefined) ?? '';
}
