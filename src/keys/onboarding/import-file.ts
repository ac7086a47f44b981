import { parse } from 'csv-parse/sync';
import { AppError, reasonOf } from '../../platform/shared/index.js';

/** Nothing was imported. */
export class ImportRefused extends AppError {
  /** One sentence each, starting with the line number unless it concerns the whole file; in order of lines. */
  readonly errors: readonly string[];

  constructor(errors: readonly string[]) {
    const inOrder = errors.toSorted((one, other) => lineOf(one) - lineOf(other));
    super(
      'invalid_request',
      inOrder.length === 1 ? (inOrder[0] ?? '') : `${inOrder.length} errors; nothing was imported.`,
    );
    this.errors = inOrder;
  }
}

const lineOf = (error: string): number => Number(/^line (\d+)/.exec(error)?.[1] ?? 0);

export interface ImportRow<Column extends string> {
  /** Line number, from 1, including the header. */
  readonly line: number;
  readonly record: Readonly<Partial<Record<Column, string>>>;
}

interface ImportFile<Column extends string> {
  readonly rows: readonly ImportRow<Column>[];
  readonly errors: readonly string[];
}

/** Parses CSV with a header of known columns, in any order. */
export function parseImport<Column extends string>(
  text: string,
  columns: readonly Column[],
  required: readonly Column[],
): ImportFile<Column> {
  try {
    const options = { bom: true, info: true, skip_empty_lines: true, trim: true } as const;
    const parsed = parse(text, {
      ...options,
      columns: (header: readonly string[]) => columnsOf(header, columns, required),
    });
    const rows = parsed as unknown as readonly ParsedRow<Column>[];
    return { rows: rows.map(({ record, info: { lines: line } }) => ({ line, record })), errors: [] };
  } catch (error) {
    return { rows: [], errors: [`${reasonOf(error)}.`] };
  }
}

interface ParsedRow<Column extends string> extends Pick<ImportRow<Column>, 'record'> {
  readonly info: { readonly lines: number };
}

function columnsOf<Column extends string>(
  header: readonly string[],
  columns: readonly Column[],
  required: readonly Column[],
): Column[] {
  const known = header.every((name) => columns.some((column) => column === name));
  const complete = required.every((column) => header.includes(column));
  if (!known || !complete || new Set(header).size < header.length)
    throw new Error(
      `The first line must list columns from ${columns.join(', ')}, each at most once, including ${required.join(' and ')}`,
    );
  return header as Column[];
}

/** Undefined if the text is empty or a valid amount. */
export const amountError = (text: string): string | undefined =>
  text === '' || /^\d{1,9}(\.\d{1,9})?$/.test(text)
    ? undefined
    : `"${text}" is not a valid amount. Use a plain decimal in dollars, such as 5 or 0.50.`;
