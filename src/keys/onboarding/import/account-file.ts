import { parse } from 'csv-parse/sync';
import { normalizeEmail } from '../../../auth/index.js';
import { type Nanos, parseUsd, reasonOf, ZERO } from '../../../platform/shared/index.js';

const COLUMNS = ['email', 'name', 'group', 'credit', 'monthly_allowance'] as const;
type Column = (typeof COLUMNS)[number];

/** One account of the file. */
export interface ImportedAccount {
  /** Of the file, from 1; the header is the first. */
  readonly line: number;
  readonly email: string;
  readonly name: string;
  readonly groupName: string | undefined;
  readonly credit: Nanos;
  /** What it is given each month; 0: nothing. */
  readonly allowance: Nanos;
}

/** What the file says, and what is wrong with it: a sentence a line. Of a file with faults nothing is imported. */
export interface AccountFile {
  readonly accounts: readonly ImportedAccount[];
  readonly faults: readonly string[];
}

interface Row {
  readonly info: { readonly lines: number };
  readonly record: Readonly<Partial<Record<Column, string>>>;
}

/** Reads CSV with a header; the columns beside `email` may be missing. */
export function parseAccountFile(text: string): AccountFile {
  let rows: readonly Row[];
  try {
    rows = parse(text, {
      columns: columnsOf,
      bom: true,
      info: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as Row[];
  } catch (error) {
    return { accounts: [], faults: [`${reasonOf(error)}.`] };
  }
  const faults: string[] = [];
  const seen = new Map<string, number>();
  const accounts = rows.flatMap(({ record, info: { lines: line } }) => {
    const found = accountErrors(record, seen, line);
    faults.push(...found.map((fault) => `line ${line}: ${fault}`));
    return found.length > 0 ? [] : [accountOf(record, line)];
  });
  if (rows.length === 0) faults.push('The file has no accounts.');
  return { accounts, faults };
}

function columnsOf(header: readonly string[]): Column[] {
  const unknown = header.filter((name) => !COLUMNS.some((column) => column === name));
  if (unknown.length > 0 || !header.includes('email') || new Set(header).size < header.length)
    throw new Error(`The first line must list columns from ${COLUMNS.join(', ')}, each at most once, including email`);
  return header as Column[];
}

function accountErrors(record: Row['record'], seen: Map<string, number>, line: number): string[] {
  const { email: typed = '', name = '', credit = '', monthly_allowance: allowance = '' } = record;
  const faults: string[] = [];
  const email = normalizeEmail(typed);
  if (email === undefined) faults.push(`"${typed}" is not a valid email address.`);
  else if (seen.has(email)) faults.push(`${email} is already on line ${seen.get(email)}.`);
  else seen.set(email, line);
  if (!/^[^\p{Cc}]{0,100}$/u.test(name)) faults.push('A name has at most 100 characters and no line breaks.');
  for (const amount of [credit, allowance])
    if (amount !== '' && !/^\d{1,9}(\.\d{1,9})?$/.test(amount))
      faults.push(`"${amount}" is not a valid amount. Use a plain decimal in dollars, such as 5 or 0.50.`);
  return faults;
}

const accountOf = (
  { email = '', name = '', group = '', credit = '', monthly_allowance: allowance = '' }: Row['record'],
  line: number,
): ImportedAccount => ({
  line,
  email: normalizeEmail(email) ?? '',
  name,
  groupName: group === '' ? undefined : group,
  credit: credit === '' ? ZERO : parseUsd(credit),
  allowance: allowance === '' ? ZERO : parseUsd(allowance),
});
