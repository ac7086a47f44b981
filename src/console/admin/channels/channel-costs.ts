import type { ChannelRecord } from '../../../catalog/channels/index.js';
import type { Form, FormBody } from '../../web/index.js';
import { optionalDecimal, textsOf } from '../catalog-form.js';
import type { ChannelForm } from './channel-form.js';
import {
  COST_COLUMNS,
  costAsTyped,
  type CostColumn,
  SHARE,
  storedText,
  type TypedCost,
  typedCosts,
  typedText,
  UNKNOWN,
} from './cost-columns.js';
import { servedIn } from './model-rows.js';

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
      isOpen: fields.some(({ id }) => id in form.faults),
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
