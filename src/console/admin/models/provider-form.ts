import { InvalidKeyFile, isKeyFile, readKeyFile } from '../../../catalog/channels/index.js';
import { type ProviderPreset, PROVIDERS } from '../../../catalog/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { type FormBody, hasExpiredSecret, sealedIn } from '../../web/index.js';
import { catalogForm, type CatalogForm, textOf, textsOf } from '../catalog-form.js';

// The form of "Add models", whose values both of its pages carry.

export const FIRST_PROVIDER = 'openai';

/** The typed fields without secrets, and the project of a key file. */
export function formOf(body: FormBody): CatalogForm {
  const typed = Object.entries(body).filter(([name]) => name !== 'secret' && name !== 'password');
  return catalogForm(withProject(Object.fromEntries(typed), secretIn(body)));
}

function withProject(values: FormBody, secret: string): FormBody {
  const preset = presetIn(values);
  const { projectField } = preset;
  if (projectField === undefined || !isKeyFile(secret)) return values;
  const name = fieldName(preset, projectField);
  if (textOf(values, name) !== '') return values;
  return { ...values, [name]: projectIn(secret) };
}

/** Empty if there is none, or if the file is invalid, which is reported when it is used. */
function projectIn(keyFile: string): string {
  try {
    return readKeyFile(keyFile).projectId ?? '';
  } catch (error) {
    if (!(error instanceof InvalidKeyFile)) throw error;
    return '';
  }
}

export function presetIn(values: FormBody): ProviderPreset {
  const wanted = textOf(values, 'provider');
  const found = PROVIDERS.find(({ id }) => id === wanted);
  if (found === undefined) throw new AppError('invalid_request', 'Choose a provider from the list.');
  return found;
}

/** Fields are in the form of all providers, so that their names have the provider in them. */
const fieldName = ({ id }: ProviderPreset, key: string): string => `${id}-${key}`;
const modelsName = ({ id }: ProviderPreset): string => `${id}-models`;

export function baseUrlIn(values: FormBody): string {
  const preset = presetIn(values);
  const { baseUrl, urlFrom, fields = [] } = preset;
  const typed = fields.map(({ key }) => [key, textOf(values, fieldName(preset, key))] as const);
  return textOf(values, 'baseUrl') || (urlFrom?.(Object.fromEntries(typed)) ?? baseUrl);
}

/** Names of models that the provider does not list; undefined if it lists them. */
export function typedModelsIn(values: FormBody): readonly string[] | undefined {
  const preset = presetIn(values);
  if (preset.typedModels === undefined) return undefined;
  const names = textOf(values, modelsName(preset)).split(/[\s,]+/);
  return [...new Set(names)].filter((name) => name !== '');
}

/** Adds an error for each part of the connection that is missing or invalid. */
export function checkConnection(form: CatalogForm, secret: string): void {
  const { values } = form;
  const preset = presetIn(values);
  const { label, fields = [], needsKey, typedModels, urlFrom } = preset;
  const hasUrl = textOf(values, 'baseUrl') !== '';
  if (urlFrom === undefined && baseUrlIn(values) === '')
    form.refuse('baseUrl', 'Enter the base URL, such as https://api.example.com/v1.');
  for (const { key, pattern, error, isOptional } of hasUrl ? [] : fields) {
    const text = textOf(values, fieldName(preset, key));
    if (!(text === '' ? isOptional : pattern.test(text))) form.refuse(fieldName(preset, key), error);
  }
  if (typedModels !== undefined && typedModelsIn(values)?.length === 0)
    form.refuse(modelsName(preset), `Enter the ${typedModels.label.toLowerCase()}, one per line.`);
  if (needsKey && secret === '') form.refuse('secret', `Enter an API key of ${label}.`);
}

/** The providers with their own fields. */
export const providerRows = (chosen: ProviderPreset) =>
  PROVIDERS.map((preset) => ({
    ...preset,
    checked: preset.id === chosen.id,
    // The provider's own fields, or a note on it.
    hasSection: preset.note !== undefined || preset.fields !== undefined,
    fields: (preset.fields ?? []).map((field) => ({ ...field, name: fieldName(preset, field.key) })),
    models: preset.typedModels && { ...preset.typedModels, name: modelsName(preset) },
  }));

/** Fields of the first page that the second one carries. */
export function carriedFields(values: FormBody) {
  const preset = presetIn(values);
  const { fields = [] } = preset;
  const names = ['provider', 'baseUrl', ...fields.map(({ key }) => fieldName(preset, key)), modelsName(preset)];
  return names.map((name) => ({ name, value: textOf(values, name) })).filter(({ value }) => value !== '');
}

export const secretIn = (body: FormBody): string => textOf(body, 'secret');

export const secretData = (body: FormBody) => ({ sealed: sealedIn(body)[0] ?? '', expired: hasExpiredSecret(body) });

/** The channel as far as it is known. */
export function draftOf(values: FormBody, body: FormBody) {
  const { protocol, auth } = presetIn(values);
  const secret = secretIn(body);
  return {
    id: undefined,
    revision: undefined,
    credentials: secret === '' ? [] : [{ text: secret }],
    entry: {
      name: 'draft',
      protocol,
      base_url: baseUrlIn(values),
      auth: secret === '' ? 'none' : auth,
      models: {},
    },
  };
}

/** The lists of the second page, which have buttons of their own. */
export type ModelList = 'priced' | 'unpriced' | 'stored';

/** Models that are ticked, after the button that was pressed. @param lists names that are shown, by list */
export function tickedIn(body: FormBody, lists: Readonly<Record<ModelList, readonly string[]>>): ReadonlySet<string> {
  // Models that were just typed are wanted.
  const isFirst = textOf(body, '_step') === '';
  const ticked = new Set(isFirst ? typedModelsIn(body) : textsOf(body, 'model'));
  const [act = '', list = ''] = textOf(body, '_act').split(':');
  const names = Object.hasOwn(lists, list) ? lists[list as ModelList] : [];
  if (act === 'all') for (const name of names) ticked.add(name);
  if (act === 'none') for (const name of names) ticked.delete(name);
  return ticked;
}
