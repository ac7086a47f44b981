import { type EntryError, Numeral } from '../../catalog/channels/index.js';
import { type Difference, differencesBetween, type FieldValue, Form, type FormBody } from '../web/index.js';

/** A form with dynamic fields, as typed, by name. Validated by the catalog file’s checks. */
export type CatalogForm = Form<Record<string, unknown>>;

/** The typed fields, without the page's own (`_csrf`, `_act`). */
export const catalogForm = (body: FormBody): CatalogForm =>
  Form.empty(Object.fromEntries(Object.entries(body).filter(([name]) => !name.startsWith('_'))));

/** The first value of a field. */
export function textOf(body: FormBody, name: string): string {
  const value = body[name];
  return (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
}

/** All values of a field (checkboxes). */
export const textsOf = (body: FormBody, name: string): readonly string[] => [body[name] ?? []].flat();

const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d*)?$/;

/** Normalizes a typed number (`1,000.50`, `$3.`) to the catalog file format. Other texts are returned unchanged, to be rejected. */
export function decimalIn(text: string): string {
  const bare = text.trim().replace(/^\$ ?/, '');
  return (GROUPED.test(bare) ? bare.replaceAll(',', '') : bare).replace(/^(\d+)\.$/, '$1').replace(/^\./, '0.');
}

export const optionalDecimal = (text: string): string | undefined => (text.trim() === '' ? undefined : decimalIn(text));

export function wholeIn(text: string): Numeral | string | undefined {
  const bare = optionalDecimal(text);
  return bare !== undefined && /^\d+$/.test(bare) ? new Numeral(bare) : bare;
}

/** Parses `name value` lines; separators: blanks, `:`, `=` and `×`. */
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

export const linesOf = (pairs: Readonly<Record<string, string>>): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name} ${value}`)
    .join('\n');

/**
 * Adds each error to its field, as a sentence that names the field: the error summary shows no labels.
 * @param fieldOf maps a path such as `models[0].name` to a field
 */
export function refuseBy(
  form: CatalogForm,
  faults: readonly EntryError[],
  fieldOf: (fault: EntryError) => string,
  labels: Readonly<Record<string, string>>,
): void {
  for (const fault of faults) {
    const field = fieldOf(fault);
    form.refuse(field, errorSentence(labels[field] ?? 'This', fault.message));
  }
}

/** Differences between stored and typed values. Lists are compared as sets, numbers by value. */
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

/** Catalog file messages that refer to file syntax, reworded for forms. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  'is missing: add at least one, or set `auth: none`': 'Enter a credential, or choose “No credential”.',
  'must be empty with `auth: none`':
    '“No credential” allows no credentials. Remove them, or choose another authentication.',
  'needs at least one model to check': 'Add a model before running the check.',
};

/** Likewise, for messages about one entry. */
const OWN_PATTERNS: readonly (readonly [pattern: RegExp, reword: (entry: string, detail: string) => string])[] = [
  [
    /^must be a list of secrets, .*; entry (\d+) is not$/,
    (n) => `Credential ${n} is not valid. Enter a secret, env:NAME or a JSON key file.`,
  ],
  [
    /^must have a variable name after "env:"; entry (\d+) does not$/,
    (n) => `Credential ${n} is not valid. Enter a variable name after env:, such as env:OPENAI_KEY.`,
  ],
  [
    /^must not name a secret of Switchboard itself; entry (\d+) does$/,
    (n) => `Credential ${n} names a secret of this service. Enter another variable.`,
  ],
  [
    /^must have valid service account keys; entry (\d+) (.+)$/,
    (n, reason) => `Enter a valid service account key: credential ${n} ${reason}.`,
  ],
  [/^must be true, false, .* per name; (\S+) is not$/, (flag) => `“${flag}” has a value this flag cannot take.`],
];

function reworded(message: string): string | undefined {
  for (const [pattern, reword] of OWN_PATTERNS) {
    const [, entry, detail = ''] = pattern.exec(message) ?? [];
    if (entry !== undefined) return reword(entry, detail);
  }
  return undefined;
}

const UNKNOWN = /^refers to the (model|group) "([^"]*)"/;
const WHERE: Readonly<Record<string, string>> = { model: 'Models & prices', group: 'Groups' };

/** A catalog file error as the error of a form field. */
export function errorSentence(label: string, message: string): string {
  const [, kind, unknown] = UNKNOWN.exec(message) ?? [];
  if (kind !== undefined)
    return `The ${kind} “${unknown ?? ''}” does not exist. Add it under ${WHERE[kind] ?? ''} first, or remove it here.`;
  return OWN_WORDS[message] ?? reworded(message) ?? `${label} ${message}.`;
}
