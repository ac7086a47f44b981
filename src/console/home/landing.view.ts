import { type CatalogGroup, type CatalogModel, formatMultiplier, type OfferedModel } from '../../catalog/index.js';
import { formatUsd } from '../../platform/shared/index.js';
import { NO_TOKENS, type ProtocolId, type TokenUsage } from '../../protocols/contract/index.js';
import { costOf, costItems } from '../../relay/billing/index.js';
import { type CostFormula, costFormula } from '../usage/index.js';
import { highlighted, patchPanel, sampleCall, STORE_KEY } from '../web/index.js';
import { endpointsOf, multiplierFor, type ProtocolEndpoint } from './endpoints.js';

interface LandingInput {
  /** The group of new accounts; undefined if there are no groups. */
  readonly group: CatalogGroup | undefined;
  /** Newest first. */
  readonly models: readonly OfferedModel[];
  readonly protocols: readonly ProtocolEndpoint[];
  /** Public URL without a trailing slash. */
  readonly base: string;
}

const ANY_MODEL: CallableModel = { name: 'MODEL', protocols: ['responses'] };

export function landingView({ group, models, protocols, base }: LandingInput) {
  const callable = models.map((offered) => ({
    name: offered.model.name,
    protocols: endpointsOf(offered, protocols).map(({ id }) => id),
  }));
  return {
    panel: patchPanel(protocols, callable),
    // Separate from the call: pasted together, `read` would take the next line as the key.
    storeKey: highlighted(STORE_KEY, 'shell'),
    firstCall: highlighted(firstCall([...callable, ANY_MODEL], base), 'shell'),
    addresses: protocols,
    supportsAll: callable.every((model) => model.protocols.length === protocols.length),
    receipt: group && receiptOf(models, group),
  };
}

interface CallableModel {
  readonly name: string;
  /** Native protocols first. */
  readonly protocols: readonly ProtocolId[];
}

/** A call of the newest model, in a native protocol. */
function firstCall(models: readonly CallableModel[], base: string): string {
  const calls = models.flatMap(({ name, protocols }) => protocols.map((id) => sampleCall(id, name, base)));
  return calls.find((call) => call !== undefined) ?? '';
}

interface Receipt {
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly formula: CostFormula;
}

/** A typical call of a coding agent: most of its prompt is cached. */
const LARGE_CALL: TokenUsage = { ...NO_TOKENS, input: 48_210, cacheRead: 41_600, output: 640 };
/** For models with a smaller context window. */
const SMALL_CALL: TokenUsage = { ...NO_TOKENS, input: 4_820, cacheRead: 4_160, output: 64 };
const ONE = 1_000_000n;

/** Prefers a model with a cache price; undefined if all models are free. */
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
    lines: costItems(pricing, usage).map(({ item, quantity, price }) => ({ item, quantity, price: formatUsd(price) })),
    snapshot: { effort_multiplier: '1', group_multiplier: formatMultiplier(groupMultiplier) },
    cost: costOf({ pricing, serviceMultiplier: ONE, effortMultiplier: ONE, groupMultiplier }, usage),
    uncollected: null,
    effort: '',
    group: group.name,
  });
  return formula && { model: name, promptTokens: usage.input, completionTokens: usage.output, formula };
}
