import type { ChannelRecord, EntryError } from '../../../catalog/channels/index.js';
import {
  type Difference,
  differencesBetween,
  type FieldValue,
  type Form,
  type FormBody,
  typedCount,
} from '../../web/index.js';
import { errorSentence } from '../catalog-form.js';
import { COST_COLUMNS, costId, costTexts } from './channel-costs.js';
import type { ChannelForm } from './channel-form.js';
import { FIELD_LABELS } from './channel-state.js';
import { valuesOf } from './channel-values.js';
import { flagsFrom } from './flag-controls.js';
import { servedIn } from './form-rows.js';

type ChannelField = keyof ChannelForm;

/** Form fields and their names in error messages, by field of the catalog file. */
const FIELDS: Readonly<Record<string, readonly [ChannelField | 'flags' | 'costs', string]>> = {
  name: ['name', 'The name'],
  protocol: ['protocol', 'The protocol'],
  base_url: ['baseUrl', 'The base URL'],
  auth: ['authHeader', 'The header'],
  query: ['query', 'The query parameters'],
  headers: ['headers', 'The headers'],
  credentials: ['secret', 'The list of credentials'],
  models: ['public', 'The list of models'],
  costs: ['costs', 'The list of costs'],
  groups: ['groups', 'The list of groups'],
  tier: ['tier', 'The tier'],
  weight: ['weight', 'The weight'],
  max_concurrency: ['maxConcurrency', 'The limit of concurrent calls'],
  'timeouts.connect_ms': ['connectMs', 'The connect timeout'],
  'timeouts.first_event_ms': ['firstEventMs', 'The first-token timeout'],
  'timeouts.idle_ms': ['idleMs', 'The idle timeout'],
  'timeouts.total_ms': ['totalMs', 'The total timeout'],
  flags: ['flags', 'A flag'],
};

/** Control ids that differ from the field name. */
export const CONTROL_IDS: Readonly<Record<string, string>> = {
  secret: 'secret-1',
  public: 'public-1',
  flags: 'flags',
};

/** Adds catalog file errors to the form fields. */
export function refuse(form: Form<ChannelForm>, faults: readonly EntryError[]): void {
  for (const { path, message } of faults) {
    const field = path.replace(/^channels\[0\]\.?/, '');
    const cost = costError(form, field, message);
    if (cost !== undefined) {
      form.errors[cost.id] ??= cost.message;
      continue;
    }
    const key = Object.keys(FIELDS).find((name) => field === name || new RegExp(`^${name}[.[]`).test(field));
    const [name, label] = FIELDS[key ?? ''] ?? ['name', 'The channel'];
    form.errors[name] ??= errorSentence(label, message);
  }
}

interface CostError {
  /** Id of the field. */
  readonly id: string;
  readonly message: string;
}

/** The model name is in the message if its whole cost is invalid, else in the path. */
const WHOLE = /^must have an upstream cost per model; ("(?:[^"\\]|\\.)*") /;

/** Undefined if a catalog file error is not about the cost of one of the form's models. */
function costError(form: Form<ChannelForm>, path: string, message: string): CostError | undefined {
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

const CREDENTIALS_CHANGED = 'changed after you opened this page; saving replaces them with yours.';

/** Differences between stored and typed values. Credentials are compared without showing them. */
export function differencesOf(stored: ChannelRecord, typed: FormBody, body: FormBody): readonly Difference[] {
  const now = valuesOf(stored);
  const fields = differencesBetween(FIELD_LABELS, now, typed, shown);
  const flags = { label: 'Flags', now: flagText(stored.flags), yours: flagText(flagsFrom(stored.flags, body)) };
  const held = { label: 'Credentials', now: shownList(now['held']), yours: shownList(typed['held']) };
  const credentials =
    held.now === held.yours ? [] : [{ label: held.label, now: '', yours: '', note: CREDENTIALS_CHANGED }];
  const others = [flags, ...costsOf(stored, now, typed)].filter((field) => field.now !== field.yours);
  return [...fields, ...others, ...credentials];
}

/** For models in both versions. */
function costsOf(stored: ChannelRecord, now: FormBody, typed: FormBody): readonly Difference[] {
  const yours = costTexts(typed, stored);
  return [...costTexts(now, stored)].flatMap(([model, text]) => {
    const other = yours.get(model);
    return other === undefined ? [] : [{ label: `Cost of ${model}`, now: text, yours: other }];
  });
}

const flagText = (flags: Readonly<Record<string, unknown>>): string =>
  Object.keys(flags)
    .toSorted()
    .map((name) => `${name} ${String(flags[name])}`)
    .join(', ') || '–';

const shownList = (value: FieldValue): string => [value ?? []].flat().join();

function shown(value: FieldValue): string {
  const texts = typeof value === 'string' ? value.split(/\r?\n/) : (value ?? []);
  return texts
    .map((one) => String(typedCount(one) ?? one.trim()))
    .filter((one) => one !== '')
    .join(', ');
}
