import type { ConditionalPrice, ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';
import type { TokenClass } from './pricing.js';

/** A model in the bundled price book. */
export interface BookModel {
  readonly displayName: string | undefined;
  /** Who asks this price: `OpenAI`. */
  readonly seller: string;
  /** In tokens; undefined if the book does not say. */
  readonly contextWindow: number | undefined;
  /** Undefined if the book has no price for both input and output. */
  readonly prices: BookPrices | undefined;
}

/** List prices as in the catalog file, in US dollars. */
export interface BookPrices {
  /** By their first prompt token; per million tokens. */
  readonly tiers: readonly BookTier[];
  /** Per use. */
  readonly toolFees: Readonly<Record<string, string>>;
  readonly requestFee: string | undefined;
}

export interface BookTier extends Readonly<Partial<Record<TokenClass, string>>> {
  readonly fromPromptTokens: number;
}

/** Where a model is bought. */
interface Seller {
  /** Name in the book; undefined: the seller at this address, or else the model's maker. */
  readonly book?: string | undefined;
  readonly baseUrl: string;
}

/**
 * Looks models up in the price book. The book is a large module, so that it is loaded at the first use.
 * @returns by name; models that the book does not know are left out
 */
export async function bookModels(
  names: readonly string[],
  { book, baseUrl }: Seller,
  now: Date,
): Promise<ReadonlyMap<string, BookModel>> {
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices');
  const provider = findProvider(book === undefined ? { providerApiUrl: baseUrl } : { providerId: book });
  return new Map(
    names.flatMap((name) => {
      const found = calcPrice({}, name, { timestamp: now, ...(provider && { provider }) });
      return found === null ? [] : [[name, bookModel(found.model, found.provider, now)] as const];
    }),
  );
}

const bookModel = (model: ModelInfo, { name }: Provider, now: Date): BookModel => ({
  displayName: model.name,
  seller: name,
  contextWindow: model.context_window,
  prices: pricesOf(pricesAt(model.prices, now), model.context_window ?? Infinity),
});

/**
 * Prices of today. If they differ by the time of day, the most expensive ones: the catalog has one price for the whole
 * day, which must not be below the vendor's.
 */
function pricesAt(prices: ModelInfo['prices'], now: Date): ModelPrice {
  if (!Array.isArray(prices)) return prices;
  const isBegun = ({ constraint }: ConditionalPrice): boolean =>
    constraint?.type !== 'start_date' || Date.parse(constraint.start_date) <= now.getTime();
  const begun = prices.filter(isBegun);
  const lasting = begun.findLast(({ constraint }) => constraint?.type !== 'time_of_date');
  const daily = begun.filter(({ constraint }) => constraint?.type === 'time_of_date');
  const [highest] = [...(lasting === undefined ? [] : [lasting]), ...daily].toSorted(
    (one, other) => baseOf(other.prices['output_mtok']) - baseOf(one.prices['output_mtok']),
  );
  return highest?.prices ?? {};
}

/** Names in the book. */
const CLASSES: Readonly<Partial<Record<TokenClass, string>>> = {
  input: 'input_mtok',
  cache_read: 'cache_read_mtok',
  cache_write_5m: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
  output: 'output_mtok',
  reasoning: 'output_reasoning_mtok',
  image_input: 'input_image_mtok',
  audio_input: 'input_audio_mtok',
  audio_output: 'output_audio_mtok',
};

/** Hosted tools by their name in the book, which has prices per 1,000 uses. */
const TOOLS = { web_search: 'web_searches_kcount', file_search: 'storage_searches_kcount' };

function pricesOf(prices: ModelPrice, contextWindow: number): BookPrices | undefined {
  if (prices['input_mtok'] === undefined || prices['output_mtok'] === undefined) return undefined;
  const starts = Object.values(CLASSES).flatMap((name) => startsOf(prices[name]));
  // Some models keep the tiers of a longer context that they had once.
  const reachable = [...new Set([0, ...starts])].filter((start) => start < contextWindow);
  const fees = Object.entries(TOOLS).flatMap(([tool, name]) => {
    const price = prices[name];
    return typeof price === 'number' ? [[tool, decimal(price / 1000)]] : [];
  });
  const requests = prices['requests_kcount'];
  return {
    tiers: reachable.toSorted((one, other) => one - other).map((start) => tierAt(prices, start)),
    toolFees: Object.fromEntries(fees) as BookPrices['toolFees'],
    requestFee: typeof requests === 'number' ? decimal(requests / 1000) : undefined,
  };
}

type Price = ModelPrice[string];

const tierAt = (prices: ModelPrice, fromPromptTokens: number): BookTier => ({
  ...Object.fromEntries(
    Object.entries(CLASSES).flatMap(([name, key]) => {
      const price = prices[key];
      return price === undefined ? [] : [[name, decimal(priceAt(price, fromPromptTokens))]];
    }),
  ),
  fromPromptTokens,
});

const baseOf = (price: Price): number => (typeof price === 'object' ? price.base : (price ?? 0));

/** First prompt tokens of the tiers. In the book, a tier applies above its start. */
const startsOf = (price: Price): readonly number[] =>
  typeof price === 'object' ? price.tiers.map(({ start }) => start + 1) : [];

const priceAt = (price: NonNullable<Price>, promptTokens: number): number =>
  typeof price === 'number'
    ? price
    : price.tiers.reduce((found, tier) => (tier.start < promptTokens ? tier.price : found), price.base);

/** Nine decimal places, as the catalog stores them. */
const decimal = (price: number): string => price.toFixed(9).replace(/\.?0+$/, '');
