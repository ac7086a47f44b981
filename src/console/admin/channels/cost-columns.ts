import { describePricing, parsePricing } from '../../../catalog/index.js';
import type { ChannelRecord } from '../../../catalog/channels/index.js';
import type { FormBody } from '../../web/index.js';
import type { ChannelForm } from './channel-form.js';

type Costs = ChannelRecord['costs'];
type CostField = keyof ChannelForm & `cost${string}`;

export interface CostColumn {
  /** Form field: a list parallel to `costModel`. */
  readonly field: CostField;
  /** Name in the catalog file, where a share has no name. */
  readonly name: 'share' | 'input' | 'cache_read' | 'output' | 'cache_write_5m' | 'cache_write_1h';
  readonly label: string;
  readonly hint?: string;
}

export const SHARE: CostColumn = {
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
export type TypedCost = Readonly<Partial<Record<CostColumn['name'], string>>>;

/** Typed costs by model. */
export function typedCosts(values: FormBody | ChannelForm): ReadonlyMap<string, TypedCost> {
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
export function costAsTyped(costs: Costs, model: string): TypedCost | undefined {
  const cost = Object.hasOwn(costs, model) ? costs[model] : undefined;
  if (cost === undefined) return {};
  if ('share' in cost) return { share: cost.share };
  const { request_fee: fee, tool_fees: tools = {}, image_generation: images = {}, tiers } = cost.prices;
  const fees = { ...tools, ...images };
  const [{ from_prompt_tokens: _, ...prices } = { from_prompt_tokens: 0 }, ...others] = tiers;
  const hasFields = Object.keys(prices).every((name) => COST_COLUMNS.some((column) => column.name === name));
  return hasFields && others.length === 0 && fee === '0' && Object.keys(fees).length === 0 ? prices : undefined;
}

export const UNKNOWN = 'Unknown';

export function typedText(typed: TypedCost): string {
  const { share = '' } = typed;
  const prices = COST_COLUMNS.filter(({ name }) => name !== SHARE.name && (typed[name] ?? '') !== '').map(
    ({ name, label }) => `${label} $${typed[name] ?? ''}`,
  );
  return [...(share === '' ? [] : [`${share} × the price`]), ...prices].join(', ') || UNKNOWN;
}

export function storedText(costs: Costs, model: string): string {
  const cost = Object.hasOwn(costs, model) ? costs[model] : undefined;
  if (cost === undefined) return UNKNOWN;
  return 'share' in cost ? typedText(cost) : describePricing(parsePricing(cost.prices));
}
