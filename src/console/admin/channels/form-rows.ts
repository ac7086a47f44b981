import type { FormBody } from '../../web/index.js';
import { textsOf } from '../catalog-form.js';
import type { ChannelForm, ModelRow } from './channel-form.js';
import { isRequestedField } from '../models/new-models.js';
import { isFlagField } from './flag-controls.js';

const SECRET = /password|secret/i;

/** The submitted form without the fields of flags and new models. */
export const withFlagsApart = (body: FormBody): FormBody =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !isFlagField(name) && !isRequestedField(name)));

/** The submitted form without secrets, to be shown again. */
export const visibleFields = (body: FormBody): FormBody =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !name.startsWith('_') && !SECRET.test(name)));

const listOf = (value: string | readonly string[] | undefined): readonly string[] =>
  typeof value === 'string' ? [value] : (value ?? []);

export const withRow = (body: FormBody): FormBody => ({
  ...body,
  public: [...listOf(body['public']), ''],
  upstream: [...listOf(body['upstream']), ''],
});

/** Removes a model row. @param number starting at 1 */
export const withoutRow = (body: FormBody, number: number): FormBody => ({
  ...body,
  public: listOf(body['public']).filter((_, index) => index !== number - 1),
  upstream: listOf(body['upstream']).filter((_, index) => index !== number - 1),
});

/** Adds rows for selected upstream models, with the same public name. */
export function withAdopted(body: FormBody): FormBody {
  const names = listOf(body['_adopt']);
  const rows = listOf(body['public'])
    .map((name, index) => [name, listOf(body['upstream'])[index] ?? ''] as const)
    .filter(([name, upstream]) => name.trim() !== '' || upstream.trim() !== '');
  const all = [...rows, ...names.map((name) => [name, name] as const)];
  return { ...body, public: all.map(([name]) => name), upstream: all.map(([, upstream]) => upstream) };
}

export const withCredential = (body: FormBody): FormBody => ({ ...body, held: [...listOf(body['held']), ''] });

/** Lists with a place for each credential. */
const OF_CREDENTIALS = ['held', 'secret', '_sealed'];

/** Removes a credential. @param number starting at 1 */
export const withoutCredential = (body: FormBody, number: number): FormBody => ({
  ...body,
  ...Object.fromEntries(
    OF_CREDENTIALS.map((name) => [name, listOf(body[name]).filter((_, index) => index !== number - 1)]),
  ),
});

type Names = Pick<ChannelForm, 'public' | 'upstream'>;

/** Non-empty rows, trimmed. */
export const rowsIn = ({ public: names, upstream }: Names): readonly ModelRow[] =>
  Array.from({ length: Math.max(names.length, upstream.length) }, (_, index) => ({
    public: names[index]?.trim() ?? '',
    upstream: upstream[index]?.trim() ?? '',
  })).filter((row) => row.public !== '' || row.upstream !== '');

/** Upstream names by public name. A missing name defaults to the other one. */
export function modelsIn(names: Names): Readonly<Record<string, readonly string[]>> {
  const models = new Map<string, string[]>();
  for (const row of rowsIn(names)) {
    const name = row.public || row.upstream;
    models.set(name, [...(models.get(name) ?? []), row.upstream || row.public]);
  }
  return Object.fromEntries(models);
}

/** The distinct public names of a form. */
export const servedIn = (values: FormBody): readonly string[] =>
  Object.keys(modelsIn({ public: textsOf(values, 'public'), upstream: textsOf(values, 'upstream') }));
