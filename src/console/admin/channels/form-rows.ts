import type { FormBody } from '../../web/index.js';
import { isFlagField } from './flag-controls.js';

const SECRET = /password|secret/i;

/** Flags are fields of the page's own; without them what was sent is the form. */
export const withFlagsApart = (body: FormBody): FormBody =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !isFlagField(name)));

/** What was sent, as it may be shown again: without secrets. */
export const shownOf = (body: FormBody): FormBody =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !name.startsWith('_') && !SECRET.test(name)));

const listOf = (value: string | readonly string[] | undefined): readonly string[] =>
  typeof value === 'string' ? [value] : (value ?? []);

/** One more row of models. */
export const withRow = (body: FormBody): FormBody => ({
  ...body,
  public: [...listOf(body['public']), ''],
  upstream: [...listOf(body['upstream']), ''],
});

/** Without a row of models. @param number from 1 on */
export const withoutRow = (body: FormBody, number: number): FormBody => ({
  ...body,
  public: listOf(body['public']).filter((_, index) => index !== number - 1),
  upstream: listOf(body['upstream']).filter((_, index) => index !== number - 1),
});

/** With rows for names that an upstream has, called the same here. */
export function withAdopted(body: FormBody): FormBody {
  const names = listOf(body['_adopt']);
  const rows = listOf(body['public'])
    .map((name, index) => [name, listOf(body['upstream'])[index] ?? ''] as const)
    .filter(([name, upstream]) => name.trim() !== '' || upstream.trim() !== '');
  const all = [...rows, ...names.map((name) => [name, name] as const)];
  return { ...body, public: all.map(([name]) => name), upstream: all.map(([, upstream]) => upstream) };
}

export const withCredential = (body: FormBody): FormBody => ({ ...body, held: [...listOf(body['held']), ''] });

/** Without a credential. @param number from 1 on */
export const withoutCredential = (body: FormBody, number: number): FormBody => ({
  ...body,
  held: listOf(body['held']).filter((_, index) => index !== number - 1),
});
