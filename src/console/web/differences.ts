import type { FormBody } from './form.js';

/** A field that two people have set to different values. */
export interface Difference {
  readonly label: string;
  readonly now: string;
  readonly yours: string;
}

/** What stands in a field of a form: one text, several of one name, or nothing. */
export type FieldValue = FormBody[string] | undefined;

/**
 * What is stored now and what somebody has typed, where these are not the same.
 * @param labels of the fields that count, by name
 * @param textOf what people read of a value: two that mean the same give the same text; empty for none
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
