import { costOf, costTerms } from '../../billing/index.js';
import { NO_TOKENS, type TokenUsage } from '../../call/index.js';
import type { CatalogGroup, CatalogModel, OfferedModel } from '../../catalog/index.js';
import type { Nanos } from '../../shared/index.js';
import { multiplierFor, timesText } from '../multiplier.js';

/** What a call of a certain size costs at the prices in force, as the partial `cost-formula` writes it. */
export interface Receipt {
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly lines: readonly ReceiptLine[];
  readonly subtotal: Nanos;
  readonly factors: readonly { readonly label: string; readonly text: string }[];
  readonly charged: Nanos;
}

interface ReceiptLine {
  readonly label: string;
  readonly tokens?: number;
  /** Of a million, in nano-dollars. */
  readonly price?: bigint;
  readonly amount?: bigint;
  readonly text?: string;
}

/** A turn of a coding agent: most of its prompt was sent before. */
const LARGE_CALL: TokenUsage = { ...NO_TOKENS, input: 48_210, cacheRead: 41_600, output: 640 };
/** The same for models that do not read so much. */
const SMALL_CALL: TokenUsage = { ...NO_TOKENS, input: 4_820, cacheRead: 4_160, output: 64 };

const ONE = 1_000_000n;
const MILLION = 1_000_000n;
const LABELS: Readonly<Record<string, string>> = {
  input: 'Prompt, not cached',
  cache_read: 'Prompt, read from cache',
  output: 'Completion',
};

/** Of a model whose formula has something to show; undefined where there is none. */
export function receiptOf(models: readonly OfferedModel[], group: CatalogGroup): Receipt | undefined {
  const shown = models.map(({ model }) => model).filter(hasWholeLines);
  const model = shown.find(hasCachePrice) ?? shown[0];
  return model && receiptFor(model, group);
}

/** Whether it costs something, and each line a whole number of nano-dollars: no line is rounded, only the total. */
function hasWholeLines(model: CatalogModel): boolean {
  const terms = costTerms(model.pricing, usageFor(model));
  const whole = terms.every(({ quantity, price, isFee }) => isFee || (BigInt(quantity) * price) % MILLION === 0n);
  return whole && terms.some(({ price }) => price > 0n);
}

const hasCachePrice = ({ pricing }: CatalogModel): boolean =>
  pricing.tiers.some(({ prices }) => prices.cache_read !== prices.input);

const usageFor = ({ contextWindow }: CatalogModel): TokenUsage =>
  contextWindow > LARGE_CALL.input + LARGE_CALL.output ? LARGE_CALL : SMALL_CALL;

function receiptFor(model: CatalogModel, group: CatalogGroup): Receipt {
  const { name, pricing } = model;
  const usage = usageFor(model);
  const multiplier = multiplierFor(group, name);
  const terms = { pricing, serviceMultiplier: ONE, effortMultiplier: ONE, groupMultiplier: multiplier };
  return {
    model: name,
    promptTokens: usage.input,
    completionTokens: usage.output,
    lines: costTerms(pricing, usage).map(({ item, quantity, price, isFee }) =>
      isFee
        ? { label: 'Fee of each call', text: 'a call', amount: price }
        : { label: LABELS[item] ?? item, tokens: quantity, price, amount: (BigInt(quantity) * price) / MILLION },
    ),
    subtotal: costOf({ ...terms, groupMultiplier: ONE }, usage),
    factors: [{ label: `Group “${group.name}”`, text: timesText(multiplier) }],
    charged: costOf(terms, usage),
  };
}
