import type { FormBody } from '../../web/index.js';
import { isFlagField } from './flag-controls.js';

const SECRET = /password|secret/i;

/** The submitted form without the flag fields. */
export const withFlagsApart = (body: FormBody): FormBody =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !isFlagField(name)));

/** The submitted form without secrets, to be shown again. */
export const shownOf = (body: FormBody): FormBody =>
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

/** Removes a credential. @param number starting at 1 */
export const withoutCredential = (body: FormBody, number: number): FormBody => ({
  ...body,
  held: listOf(body['held']).filter((_, index) => index !== number - 1),
});
