import { type Nanos, nanos } from '../shared/index.js';

// How values are written to and read from PostgreSQL.

/** A field of a row. Numbers are integers; a bigint may be given as its decimal text. */
type ColumnValue = string | number | bigint | boolean | null | undefined;

/** Characters that require quotes. */
const NEEDS_QUOTES = /["\\(),\s]/;

/**
 * Rows as the text form of an array of a composite type, for `$1::type[]`. A quarter of the cost of JSON on both sides.
 * NUL is dropped, since PostgreSQL cannot store it; a lone surrogate becomes U+FFFD in UTF-8.
 * @param computed values of fields that differ from the row's own, so that rows need not be copied
 */
export function compositeArray<Name extends string, Row extends Readonly<Record<Name, ColumnValue>>>(
  names: readonly Name[],
  rows: readonly Row[],
  computed?: Readonly<Partial<Record<Name, (row: Row) => ColumnValue>>>,
): string {
  let text = '{';
  for (const row of rows) {
    let fields = '';
    for (const name of names) {
      const compute = computed?.[name];
      fields += `${fields === '' ? '(' : ','}${fieldText(compute === undefined ? row[name] : compute(row))}`;
    }
    text += `${text === '{' ? '' : ','}"${fields})"`;
  }
  return `${text}}`;
}

/** The field of a row within an array: what is special in a row is escaped for both. */
function fieldText(field: ColumnValue): string {
  switch (typeof field) {
    case 'string':
      if (field === '') return String.raw`\"\"`;
      return NEEDS_QUOTES.test(field) || field.includes('\0')
        ? String.raw`\"${escaped(escaped(field.replaceAll('\0', '')))}\"`
        : field;
    case 'boolean':
      return field ? 't' : 'f';
    case 'number':
    case 'bigint':
      return String(field);
    default:
      // An empty field is null; an empty string is quoted.
      return '';
  }
}

const escaped = (text: string): string => (/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text);

/** The text form of an array of texts or JSON, in one pass over each: the driver makes two. */
export const textArray = (texts: readonly (string | null)[]): string =>
  `{${texts.map((text) => (text === null ? 'NULL' : `"${escaped(text)}"`)).join(',')}}`;

/** Escapes that are valid JSON but that PostgreSQL rejects: NUL and lone surrogates. */
const SUSPECT = /\\u(?:0000|[dD][89a-fA-F])/;

/** JSON that PostgreSQL accepts as `json` or `jsonb`: NUL is removed, and lone surrogates become U+FFFD. */
export function storableJson(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return JSON.stringify(JSON.parse(text), (_name, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').replaceAll(/\p{Surrogate}/gu, '\ufffd') : value,
  );
}

/** Column options for money: bigint in the database, `Nanos` in the program. The driver returns it as text. */
export const nanosColumn = {
  type: 'bigint',
  transformer: {
    from: (text: string | null): Nanos | null => (text === null ? null : nanos(BigInt(text))),
    to: (amount: unknown): unknown => amount,
  },
} as const;
