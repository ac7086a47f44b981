import type { FormBody } from './form.js';

/** A field with conflicting values. */
export interface Difference {
  readonly label: string;
  readonly now: string;
  readonly yours: string;
}

/** Submitted value: one text, several of the same name, or none. */
export type FieldValue = FormBody[string] | undefined;

/**
 * Fields whose stored and submitted values differ.
 * @param labels by name, of the fields to compare
 * @param textOf display text; equal for equivalent values, empty for none
 */
export const differencesBetween = (
  labels: Readonly<Record<string, string>>,
  now: FormBody,
  typed: FormBody,
  textOf: (value: FieldValue) => string,
): readonly Difference[] =>
  Object.entries(labels)
    .map(([name, label]) => ({ label, now: textOf(now[name]) || NOTHING, yours: textOf(typed[name]) || NOTHING }))
    .filter((field) => field.now !== field.yours);

const NOTHING = '–';
