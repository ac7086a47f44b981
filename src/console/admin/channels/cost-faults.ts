import type { Form } from '../../web/index.js';
import { costId } from './channel-costs.js';
import type { ChannelForm } from './channel-form.js';
import { COST_COLUMNS } from './cost-columns.js';
import { servedIn } from './model-rows.js';

interface CostFault {
  /** Of the field that it is in. */
  readonly id: string;
  readonly message: string;
}

/** A model's name stands in the message where all of its costs are wrong, else in the path. */
const WHOLE = /^must say what the upstream charges for each model; ("(?:[^"\\]|\\.)*") /;

/** Undefined where a fault of the catalog file is not about what the upstream charges for one of the form's models. */
export function costFault(form: Form<ChannelForm>, path: string, message: string): CostFault | undefined {
  const models = servedIn(form.values);
  const [, quoted] = path === 'costs' ? (WHOLE.exec(message) ?? []) : [];
  if (quoted !== undefined) {
    const model = String(JSON.parse(quoted));
    return at(
      models,
      model,
      'share',
      `The share of ${model} must be a decimal such as 0.6, at most 6 digits after the point.`,
    );
  }
  for (const model of models)
    for (const { name, label } of COST_COLUMNS)
      if (path === `costs.${model}.${name}` || path === `costs[${model}].${name}`)
        return at(models, model, name, sentenceOf(model, name, label, message));
  return undefined;
}

function at(models: readonly string[], model: string, name: string, message: string): CostFault | undefined {
  const number = models.indexOf(model) + 1;
  return number === 0 ? undefined : { id: costId(number, name), message };
}

function sentenceOf(model: string, name: string, label: string, message: string): string {
  // A share stands alone in the catalog file: beside prices there is no such field.
  if (name === 'share') return `Enter a share of the price of ${model} or prices, not both.`;
  if (message === 'is missing')
    return `Enter what ${model} costs for ${label.toLowerCase()} too, 0 where it is nothing.`;
  return `${label} of ${model} ${message}.`;
}
