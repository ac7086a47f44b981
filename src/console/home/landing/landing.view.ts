import { type CatalogGroup, type CatalogModel, formatMultiplier, type OfferedModel } from '../../../catalog/index.js';
import { formatUsd } from '../../../platform/shared/index.js';
import { NO_TOKENS, type TokenUsage } from '../../../protocols/contract/index.js';
import { costOf, costTerms } from '../../../relay/billing/index.js';
import { type CostFormula, costFormula } from '../../usage/index.js';
import { highlighted, patchPanel, sampleCall, STORE_KEY } from '../../web/index.js';
import { endpointsOf, multiplierFor, type ProtocolEndpoint } from '../endpoints.js';

/** What whoever is not signed in finds here. */
interface Offered {
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

/** What a call of a certain size costs at the prices in force. */
interface Receipt {
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** As it stands with a call in the log. */
  readonly formula: CostFormula;
}

/** A turn of a coding agent: most of its prompt was sent before. */
const LARGE_CALL: TokenUsage = { ...NO_TOKENS, input: 48_210, cacheRead: 41_600, output: 640 };
/** The same for models that do not read so much. */
const SMALL_CALL: TokenUsage = { ...NO_TOKENS, input: 4_820, cacheRead: 4_160, output: 64 };
const ONE = 1_000_000n;

/** Of a model whose formula has something to show; undefined where there is none. */
export function receiptOf(models: readonly OfferedModel[], group: CatalogGroup): Receipt | undefined {
  const priced = models.map(({ model }) => model).filter(({ pricing }) => !pricing.costsNothing);
  const model = priced.find(hasCachePrice) ?? priced[0];
  return model && receiptFor(model, group);
}

const hasCachePrice = ({ pricing }: CatalogModel): boolean =>
  pricing.tiers.some(({ prices }) => prices.cache_read !== prices.input);

function receiptFor({ name, pricing, contextWindow }: CatalogModel, group: CatalogGroup): Receipt | undefined {
  const usage = contextWindow > LARGE_CALL.input + LARGE_CALL.output ? LARGE_CALL : SMALL_CALL;
  const groupMultiplier = multiplierFor(group, name);
  const formula = costFormula({
    lines: costTerms(pricing, usage).map(({ item, quantity, price }) => ({ item, quantity, price: formatUsd(price) })),
    snapshot: { effort_multiplier: '1', group_multiplier: formatMultiplier(groupMultiplier) },
    cost: costOf({ pricing, serviceMultiplier: ONE, effortMultiplier: ONE, groupMultiplier }, usage),
    uncollected: null,
    effort: '',
    group: group.name,
  });
  return formula && { model: name, promptTokens: usage.input, completionTokens: usage.output, formula };
}
