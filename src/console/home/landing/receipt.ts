import { costOf, costTerms } from '../../../relay/billing/index.js';
import { NO_TOKENS, type TokenUsage } from '../../../protocols/contract/index.js';
import { type CatalogGroup, type CatalogModel, formatMultiplier, type OfferedModel } from '../../../catalog/index.js';
import { formatUsd } from '../../../platform/shared/index.js';
import { type CostFormula, costFormula } from '../../usage/index.js';
import { multiplierFor } from '../multiplier.js';

/** What a call of a certain size costs at the prices in force. */
export interface Receipt {
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
