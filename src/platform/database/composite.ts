/** What a field of a row can be. Numbers are whole; a bigint may come as its decimal text. */
type Field = string | number | bigint | boolean | null | undefined;

/** Read as something else, or not at all, without quotes around it. */
const NEEDS_QUOTES = /["\\(),\s]/;

/**
 * Rows as PostgreSQL reads them into an array of a composite type: `$1::type[]`, fields in the order of the type. A
 * quarter of what JSON costs both sides. PostgreSQL knows no NUL, so none is written; half a surrogate pair becomes
 * U+FFFD on the way to UTF-8.
 */
export function compositeArray<Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Record<Name, Field>>[],
): string {
  let text = '{';
  for (const row of rows) {
    let fields = '';
    for (const name of names) fields += `${fields === '' ? '(' : ','}${fieldText(row[name])}`;
    text += `${text === '{' ? '' : ','}"${escaped(fields)})"`;
  }
  return `${text}}`;
}

function fieldText(field: Field): string {
  switch (typeof field) {
    case 'string':
      return field !== '' && !NEEDS_QUOTES.test(field) && !field.includes('\0')
        ? field
        : `"${escaped(field.replaceAll('\0', ''))}"`;
    case 'boolean':
      return field ? 't' : 'f';
    case 'number':
    case 'bigint':
      return String(field);
    default:
      // Nothing between two commas is null; an empty text has quotes.
      return '';
  }
}

const escaped = (text: string): string => (/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text);
