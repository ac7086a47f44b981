import { type Fault, Numeral } from '../../catalog/channels/index.js';
import { type Difference, differencesBetween, type FieldValue, Form, type FormBody } from '../web/index.js';
import { faultSentence } from './fault-sentence.js';

/** A form whose fields depend on what it shows: as typed, by name. Its checks are those of the catalog file. */
export type TypedForm = Form<Record<string, unknown>>;

/** What was typed, without what is the page's own (`_csrf`, `_act`). */
export const typedForm = (body: FormBody): TypedForm =>
  Form.empty(Object.fromEntries(Object.entries(body).filter(([name]) => !name.startsWith('_'))));

/** One text of a form; of a name that came several times the first. */
export function textOf(body: FormBody, name: string): string {
  const value = body[name];
  return (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
}

/** All texts of a name: ticked boxes. */
export const textsOf = (body: FormBody, name: string): readonly string[] => [body[name] ?? []].flat();

const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d*)?$/;

/** A number as people type it, `1,000.50` or `$3.`, as the catalog file writes it; other texts stay, to be refused. */
export function decimalIn(text: string): string {
  const bare = text.trim().replace(/^\$ ?/, '');
  return (GROUPED.test(bare) ? bare.replaceAll(',', '') : bare).replace(/^(\d+)\.$/, '$1').replace(/^\./, '0.');
}

/** The same of a field that may be left empty. */
export const optionalDecimal = (text: string): string | undefined => (text.trim() === '' ? undefined : decimalIn(text));

/** A whole number likewise. */
export function wholeIn(text: string): Numeral | string | undefined {
  const bare = optionalDecimal(text);
  return bare !== undefined && /^\d+$/.test(bare) ? new Numeral(bare) : bare;
}

/** `name value`, with whatever stands between them, on each line. */
export const pairsIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => {
        const [, name = line, value = ''] = /^(\S+?)[\s:=×]+(.*)$/.exec(line) ?? [];
        return [name, decimalIn(value)];
      }),
  );

/** Pairs as they are typed again. */
export const linesOf = (pairs: Readonly<Record<string, string>>): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name} ${value}`)
    .join('\n');

/**
 * Puts each fault beside the field that it is about, as a sentence that names it: the list of all faults has no fields.
 * @param fieldOf the field of a path such as `models[0].name`
 */
export function refuseBy(
  form: TypedForm,
  faults: readonly Fault[],
  fieldOf: (fault: Fault) => string,
  labels: Readonly<Record<string, string>>,
): void {
  for (const fault of faults) {
    const field = fieldOf(fault);
    form.refuse(field, faultSentence(labels[field] ?? 'This', fault.message));
  }
}

/** What is stored now and what somebody has typed, where these are not the same: one line or several, and numbers by value. */
export const differencesOf = (
  now: FormBody,
  typed: FormBody,
  labels: Readonly<Record<string, string>>,
): readonly Difference[] => differencesBetween(labels, now, typed, shown);

const shown = (value: FieldValue): string =>
  typeof value === 'string'
    ? value
        .split(/\r?\n/)
        .map((line) => decimalIn(line))
        .join(', ')
    : [...(value ?? [])].toSorted().join(', ');
