import type { Form } from '../../web/index.js';
import { costId } from './channel-costs.js';
import type { ChannelForm } from './channel-form.js';
import { COST_COLUMNS } from './cost-columns.js';
import { servedIn } from './model-rows.js';

interface CostError {
  /** Id of the field. */
  readonly id: string;
  readonly message: string;
}

/** The model name is in the message if its whole cost is invalid, else in the path. */
const WHOLE = /^must have an upstream cost per model; ("(?:[^"\\]|\\.)*") /;

/** Undefined if a catalog file error is not about the cost of one of the form's models. */
export function costError(form: Form<ChannelForm>, path: string, message: string): CostError | undefined {
  const models = servedIn(form.values);
  const [, quoted] = path === 'costs' ? (WHOLE.exec(message) ?? []) : [];
  if (quoted !== undefined) {
    const model = String(JSON.parse(quoted));
    return at(
      models,
      model,
      'share',
      `Enter the share for ${model} as a decimal such as 0.6, with at most 6 decimal places.`,
    );
  }
  for (const model of models)
    for (const { name, label } of COST_COLUMNS)
      if (path === `costs.${model}.${name}` || path === `costs[${model}].${name}`)
        return at(models, model, name, sentenceOf(model, name, label, message));
  return undefined;
}

function at(models: readonly string[], model: string, name: string, message: string): CostError | undefined {
  const number = models.indexOf(model) + 1;
  return number === 0 ? undefined : { id: costId(number, name), message };
}

function sentenceOf(model: string, name: string, label: string, message: string): string {
  // In the catalog file, prices have no field for a share.
  if (name === 'share') return `Enter either a share or prices for ${model}, not both.`;
  if (message === 'is missing') return `Enter the ${label.toLowerCase()} cost of ${model}, or 0 if it is free.`;
  return `${label} of ${model} ${message}.`;
}
