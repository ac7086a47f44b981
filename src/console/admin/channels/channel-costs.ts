import type { ChannelRecord } from '../../../catalog/channels/index.js';
import { describePricing, parsePricing } from '../../../catalog/index.js';
import type { Form, FormBody } from '../../web/index.js';
import { optionalDecimal, textsOf } from '../catalog-form.js';
import type { ChannelForm } from './channel-form.js';
import { servedIn } from './form-rows.js';

/** The view of a model's cost. */
interface CostRow {
  readonly number: number;
  readonly model: string;
  /** Summary of the cost. */
  readonly text: string;
  /** The cost has tiers or fees, which the form cannot edit: it is kept unless removed. */
  readonly isKept: boolean;
  readonly isForgotten: boolean;
  readonly isOpen: boolean;
  readonly fields: readonly (CostColumn & { readonly id: string; readonly value: string; readonly isShare: boolean })[];
}

/** The id of a model's field. @param number of the model in the form, starting at 1 */
export const costId = (number: number, name: string): string => `cost-${number}-${name}`;

/** Cost fields of a stored channel. */
export function costValues({ costs, models }: Pick<ChannelRecord, 'costs' | 'models'>): FormBody {
  const rows = Object.keys(models).flatMap((model) => {
    const typed = costAsTyped(costs, model);
    return typed === undefined ? [] : [{ model, typed }];
  });
  const columns = COST_COLUMNS.map(({ field, name }) => [field, rows.map(({ typed }) => typed[name] ?? '')] as const);
  return { costModel: rows.map(({ model }) => model), ...Object.fromEntries(columns) };
}

/**
 * The costs of a form as catalog file entries. Models without a row keep their stored cost; models that the channel does
 * not serve have none.
 */
export function costsIn(form: ChannelForm, served: readonly string[], stored?: ChannelRecord): object {
  const typed = typedCosts(form);
  const before = new Map(Object.entries((stored?.entry['costs'] ?? {}) as Readonly<Record<string, unknown>>));
  const entries = served.map((model): [string, unknown] => {
    const row = typed.get(model);
    if (row !== undefined) return [model, entryOf(row)];
    return [model, form.costForgotten.includes(model) ? undefined : before.get(model)];
  });
  return Object.fromEntries(entries.filter(([, cost]) => cost !== undefined));
}

/** One row per model of the form. */
export function costRows(form: Form<ChannelForm>, stored: ChannelRecord | undefined): readonly CostRow[] {
  const typed = typedCosts(form.values);
  const forgotten = textsOf(form.values, 'costForgotten');
  return servedIn(form.values).map((model, index) => {
    const row = typed.get(model) ?? costAsTyped(stored?.costs ?? {}, model);
    const fields = COST_COLUMNS.map((column) => ({
      ...column,
      id: costId(index + 1, column.name),
      value: row?.[column.name] ?? '',
      isShare: column === SHARE,
    }));
    return {
      number: index + 1,
      model,
      text: row === undefined ? storedText(stored?.costs ?? {}, model) : typedText(row),
      isKept: row === undefined,
      isForgotten: forgotten.includes(model),
      isOpen: fields.some(({ id }) => id in form.errors),
      fields,
    };
  });
}

/** Cost summaries by model, to compare conflicting changes. */
export const costTexts = (values: FormBody, stored: ChannelRecord): ReadonlyMap<string, string> => {
  const typed = typedCosts(values);
  const forgotten = textsOf(values, 'costForgotten');
  return new Map(
    servedIn(values).map((model) => {
      const row = typed.get(model);
      const kept = forgotten.includes(model) ? UNKNOWN : storedText(stored.costs, model);
      return [model, row === undefined ? kept : typedText(row)];
    }),
  );
};

/** A share together with prices is rejected by the catalog file's checks. */
function entryOf(typed: TypedCost): unknown {
  const given = Object.entries(typed).flatMap(([name, text]) => {
    const decimal = optionalDecimal(text);
    return decimal === undefined ? [] : [[name, decimal] as const];
  });
  const [first, ...others] = given;
  if (first === undefined) return undefined;
  return first[0] === SHARE.name && others.length === 0 ? first[1] : Object.fromEntries(given);
}

type Costs = ChannelRecord['costs'];
type CostField = keyof ChannelForm & `cost${string}`;

interface CostColumn {
  /** Form field: a list parallel to `costModel`. */
  readonly field: CostField;
  /** Name in the catalog file, where a share has no name. */
  readonly name: 'share' | 'input' | 'cache_read' | 'output' | 'cache_write_5m' | 'cache_write_1h';
  readonly label: string;
  readonly hint?: string;
}

const SHARE: CostColumn = {
  field: 'costShare',
  name: 'share',
  label: 'Share of the price',
  hint: 'For example 0.6',
};

/** In the order of the form. */
export const COST_COLUMNS: readonly CostColumn[] = [
  SHARE,
  { field: 'costInput', name: 'input', label: 'Input' },
  { field: 'costOutput', name: 'output', label: 'Output', hint: 'Includes reasoning' },
  { field: 'costCacheRead', name: 'cache_read', label: 'Cache read', hint: 'Default: input price' },
  { field: 'costWrite5m', name: 'cache_write_5m', label: 'Cache write, 5 minutes', hint: 'Default: input price' },
  { field: 'costWrite1h', name: 'cache_write_1h', label: 'Cache write, 1 hour', hint: 'Default: 5-minute price' },
];

/** The cost of a model as typed, by column. */
type TypedCost = Readonly<Partial<Record<CostColumn['name'], string>>>;

/** Typed costs by model. */
function typedCosts(values: FormBody | ChannelForm): ReadonlyMap<string, TypedCost> {
  const texts = (field: CostField): readonly string[] => [(values as FormBody)[field] ?? []].flat();
  const columns = COST_COLUMNS.map(({ field, name }) => [name, texts(field)] as const);
  return new Map(
    texts('costModel').map((model, index) => [
      model,
      Object.fromEntries(columns.map(([name, column]) => [name, column[index]?.trim() ?? ''])),
    ]),
  );
}

/** A stored cost as form values. Undefined if the form cannot edit it. */
function costAsTyped(costs: Costs, model: string): TypedCost | undefined {
  const cost = Object.hasOwn(costs, model) ? costs[model] : undefined;
  if (cost === undefined) return {};
  if ('share' in cost) return { share: cost.share };
  const { request_fee: fee, tool_fees: tools = {}, image_generation: images = {}, tiers } = cost.prices;
  const fees = { ...tools, ...images };
  const [{ from_prompt_tokens: _, ...prices } = { from_prompt_tokens: 0 }, ...others] = tiers;
  const hasFields = Object.keys(prices).every((name) => COST_COLUMNS.some((column) => column.name === name));
  return hasFields && others.length === 0 && fee === '0' && Object.keys(fees).length === 0 ? prices : undefined;
}

const UNKNOWN = 'Unknown';

function typedText(typed: TypedCost): string {
  const { share = '' } = typed;
  const prices = COST_COLUMNS.filter(({ name }) => name !== SHARE.name && (typed[name] ?? '') !== '').map(
    ({ name, label }) => `${label} $${typed[name] ?? ''}`,
  );
  return [...(share === '' ? [] : [`${share} × the price`]), ...prices].join(', ') || UNKNOWN;
}

function storedText(costs: Costs, model: string): string {
  const cost = Object.hasOwn(costs, model) ? costs[model] : undefined;
  if (cost === undefined) return UNKNOWN;
  return 'share' in cost ? typedText(cost) : describePricing(parsePricing(cost.prices));
}
