import { type CatalogEntry, Numeral } from '../../../catalog/channels/index.js';
import type { BookModel, BookPrices, ModelFamily, ProviderPreset } from '../../../catalog/index.js';
import { count, price } from '../../../platform/format/index.js';
import { parseUsd } from '../../../platform/shared/index.js';
import type { UpstreamModel } from '../../../protocols/contract/index.js';
import type { FormBody } from '../../web/index.js';
import { decimalIn, textsOf } from '../catalog-form.js';

// Models that are created together with the channel that serves them. The price book and the upstream say most about
// them; the form asks for the rest.

/** A model that the catalog does not have yet. */
export interface NewModel {
  readonly name: string;
  readonly displayName: string;
  readonly ownedBy: string;
  /** In tokens; undefined: the form asks for it. */
  readonly contextWindow: number | undefined;
  /** Undefined: an assumption, which depends on the context window. */
  readonly maxOutputTokens: number | undefined;
  readonly capabilities: ModelFamily['capabilities'];
  /** Undefined: unknown, and the form asks for them. */
  readonly prices: BookPrices | 'free' | undefined;
  /** Who asks these prices: `OpenAI`. */
  readonly seller: string | undefined;
}

/** Facts that decide what is known about a model. */
interface KnownFacts {
  readonly listed: UpstreamModel;
  readonly book: BookModel | undefined;
  readonly preset?: ProviderPreset | undefined;
}

export function newModel({ listed, book, preset }: KnownFacts): NewModel {
  const { name } = listed;
  const family = preset?.families?.find(({ pattern }) => pattern.test(name));
  return {
    name,
    displayName: listed.displayName ?? book?.displayName ?? name,
    ownedBy: name.includes('/') ? (name.split('/', 1)[0] ?? '') : (preset?.book ?? ''),
    contextWindow: listed.contextWindow ?? book?.contextWindow,
    maxOutputTokens: listed.maxOutputTokens ?? family?.maxOutputTokens,
    capabilities: [...new Set([...listed.capabilities, ...(family?.capabilities ?? [])])],
    prices: preset?.isFree === true ? 'free' : book?.prices,
    seller: book?.seller,
  };
}

/** Assumed where nothing is known: enough for most responses, and accepted by most upstreams. */
const ASSUMED_OUTPUT_LIMIT = 32_768;

const outputLimit = ({ maxOutputTokens = ASSUMED_OUTPUT_LIMIT }: NewModel, contextWindow: number): number =>
  Math.min(maxOutputTokens, contextWindow);

/** Fields of what the form asks, parallel to the names in `asked`. */
const ASKED = { context: 'askedContext', input: 'askedInput', output: 'askedOutput' } as const;
type AskedField = keyof typeof ASKED;

const FIELDS: readonly AskedField[] = ['context', 'input', 'output'];
const LABELS: Readonly<Record<AskedField, string>> = {
  context: 'Context window',
  input: 'Input price',
  output: 'Output price',
};

/** Whether a field of a form belongs to its new models. */
export const isRequestedField = (name: string): boolean => /^asked(?:Context|Input|Output)?$/.test(name);

/** Typed values, by model. */
function responsesIn(values: FormBody): ReadonlyMap<string, Readonly<Record<AskedField, string>>> {
  const texts = FIELDS.map((field) => textsOf(values, ASKED[field]));
  return new Map(
    textsOf(values, 'asked').map((name, index) => {
      const [context = '', input = '', output = ''] = texts.map((column) => column[index]?.trim() ?? '');
      return [name, { context, input, output }];
    }),
  );
}

/** The id of a control. @param number of the model in the form, starting at 1 */
const requestedId = (number: number, field: AskedField): string => `asked-${number}-${field}`;

/** Fields that a form asks for about a model. */
const openFields = ({ contextWindow, prices }: NewModel): readonly AskedField[] =>
  FIELDS.filter((field) => (field === 'context' ? contextWindow === undefined : prices === undefined));

/** The view of new models. */
export function newModelRows(models: readonly NewModel[], values: FormBody) {
  const responses = responsesIn(values);
  return models.map((model, index) => {
    const open = openFields(model);
    const { contextWindow, prices } = model;
    return {
      name: model.name,
      title: model.displayName === model.name ? '' : model.displayName,
      context: contextWindow === undefined ? undefined : count(contextWindow),
      outputLimit: contextWindow === undefined ? undefined : count(outputLimit(model, contextWindow)),
      isAssumed: model.maxOutputTokens === undefined,
      priceText: prices && textOfPrices(prices),
      source: prices && prices !== 'free' ? sourceText(model, prices) : undefined,
      missingFields: open.map((field) => ({
        fieldName: ASKED[field],
        id: requestedId(index + 1, field),
        label: LABELS[field],
        isPrice: field !== 'context',
        value: responses.get(model.name)?.[field] ?? '',
      })),
      // Fields of known facts are sent empty, to keep the lists parallel.
      held: FIELDS.filter((field) => !open.includes(field)).map((field) => ASKED[field]),
    };
  });
}

function textOfPrices(prices: BookPrices | 'free'): string {
  const [tier] = prices === 'free' ? [] : prices.tiers;
  if (tier === undefined) return 'Free';
  return `${price(parseUsd(tier.input ?? '0'))} in, ${price(parseUsd(tier.output ?? '0'))} out`;
}

function sourceText({ seller = 'The vendor' }: NewModel, { tiers }: BookPrices): string {
  const [, long] = tiers;
  const more = long === undefined ? '' : `, more from ${count(long.fromPromptTokens)} tokens`;
  return `List price of ${seller}${more}`;
}

interface NewEntries {
  /** As in the catalog file. */
  readonly models: readonly CatalogEntry[];
  /** Upstream prices, by model; unknown for models whose price was typed. */
  readonly costs: CatalogEntry;
  /** By control. */
  readonly errors: Readonly<Record<string, string>>;
}

/**
 * Models as catalog file entries, with what was typed about them. Invalid if there are errors.
 * @param models as shown
 */
export function newEntries(
  models: readonly NewModel[],
  values: FormBody,
  { wanted, groups }: { readonly wanted: ReadonlySet<string>; readonly groups: readonly string[] },
): NewEntries {
  const responses = responsesIn(values);
  const all = models.flatMap((model, index) =>
    wanted.has(model.name) ? [entryOf(model, index + 1, responses.get(model.name))] : [],
  );
  return {
    models: all.map(({ entry }) => ({ ...entry, groups })),
    costs: Object.assign({}, ...all.map(({ cost }) => cost)) as CatalogEntry,
    errors: Object.assign({}, ...all.map(({ errors }) => errors)) as Readonly<Record<string, string>>,
  };
}

const DECIMAL = /^\d{1,9}(?:\.\d{1,9})?$/;
const WHOLE = /^[1-9]\d{0,8}$/;

function entryOf(model: NewModel, number: number, response: Readonly<Record<AskedField, string>> | undefined) {
  const { name, prices } = model;
  const typed = (field: AskedField): string => decimalIn(response?.[field] ?? '');
  const errors = openFields(model).flatMap((field) =>
    (field === 'context' ? WHOLE : DECIMAL).test(typed(field))
      ? []
      : [[requestedId(number, field), MISSING[field](name)]],
  );
  const contextWindow = model.contextWindow ?? Number(typed('context'));
  const pricing =
    prices === undefined ? { prices: [{ input: typed('input'), output: typed('output') }] } : pricesEntry(prices);
  return {
    entry: {
      name,
      display_name: model.displayName,
      owned_by: model.ownedBy,
      context_window: new Numeral(String(contextWindow)),
      max_output_tokens: new Numeral(String(outputLimit(model, contextWindow))),
      capabilities: model.capabilities,
      ...pricing,
    },
    cost: prices === undefined || prices === 'free' ? {} : { [name]: costEntry(prices) },
    errors: Object.fromEntries(errors) as Readonly<Record<string, string>>,
  };
}

const MISSING: Readonly<Record<AskedField, (name: string) => string>> = {
  context: (name) => `Enter the context window of ${name} in tokens, such as 128,000.`,
  input: (name) => `Enter the input price of ${name} in dollars per million tokens, or 0 if it is free.`,
  output: (name) => `Enter the output price of ${name} in dollars per million tokens, or 0 if it is free.`,
};

const feesOf = ({ toolFees, requestFee }: BookPrices): CatalogEntry => ({
  ...(Object.keys(toolFees).length > 0 && { tool_fees: toolFees }),
  ...(requestFee !== undefined && { request_fee: requestFee }),
});

const tiersOf = ({ tiers }: BookPrices): readonly CatalogEntry[] =>
  tiers.map(({ fromPromptTokens, ...prices }) => ({
    from_prompt_tokens: new Numeral(String(fromPromptTokens)),
    ...prices,
  }));

const pricesEntry = (prices: BookPrices | 'free'): CatalogEntry =>
  prices === 'free' ? { prices } : { ...feesOf(prices), prices: tiersOf(prices) };

/** The vendor charges its list price, whatever the model's own price becomes. */
function costEntry(prices: BookPrices): unknown {
  const [first = {}, ...others] = tiersOf(prices);
  return [{ ...first, ...feesOf(prices) }, ...others];
}
