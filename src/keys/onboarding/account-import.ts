import { Injectable } from '@nestjs/common';
import { parse } from 'csv-parse/sync';
import type { EntityManager } from 'typeorm';
import { AccountService, normalizeEmail } from '../../auth/index.js';
import { CatalogEditor } from '../../catalog/index.js';
import { AppError, type Nanos, parseUsd, reasonOf, ZERO } from '../../platform/shared/index.js';
import { Onboarding } from './onboarding.service.js';

/** Nothing was imported. */
export class ImportRefused extends AppError {
  constructor(
    /** One sentence each, starting with the line number unless it concerns the whole file. */
    readonly errors: readonly string[],
  ) {
    super(
      'invalid_request',
      errors.length === 1 ? (errors[0] ?? '') : `${errors.length} errors; nothing was imported.`,
    );
  }
}

/** A created account. */
interface MadeAccount {
  readonly id: string;
  readonly email: string;
}

/** Imports accounts from a file, all or none. They have no password until their owners choose one. */
@Injectable()
export class AccountImport {
  constructor(
    private readonly accounts: AccountService,
    private readonly onboarding: Onboarding,
    private readonly catalog: CatalogEditor,
  ) {}

  /** @throws ImportRefused */
  run(text: string): Promise<readonly MadeAccount[]> {
    const { accounts, errors } = parseAccountFile(text);
    return this.accounts.within(async (manager) => {
      const all = [...errors, ...(await this.errorsIn(accounts, manager))];
      if (all.length > 0) throw new ImportRefused(all.toSorted((one, other) => lineOf(one) - lineOf(other)));
      const made: MadeAccount[] = [];
      for (const account of accounts) made.push(await this.make(account, manager));
      return made;
    });
  }

  private async errorsIn(accounts: readonly ImportedAccount[], manager: EntityManager): Promise<readonly string[]> {
    const { groups } = await this.catalog.names(manager);
    const errors: string[] = [];
    for (const { line, email, groupName } of accounts) {
      if (groupName !== undefined && !groups.has(groupName))
        errors.push(`line ${line}: there is no group ${groupName}.`);
      if (await this.accounts.taken(email, manager)) errors.push(`line ${line}: there is an account ${email} already.`);
    }
    return errors;
  }

  private async make(
    { email, name, groupName, credit, allowance }: ImportedAccount,
    manager: EntityManager,
  ): Promise<MadeAccount> {
    const prepared = await this.accounts.prepare({ email, name, groupName, passwordHash: null });
    const opening = credit > 0n ? { amount: credit, reason: 'Opening credit by an administrator' } : undefined;
    const { id } = await this.onboarding.open(prepared, opening, manager, allowance > 0n ? allowance : undefined);
    return { id, email };
  }
}

const lineOf = (fault: string): number => Number(/^line (\d+)/.exec(fault)?.[1] ?? 0);

const COLUMNS = ['email', 'name', 'group', 'credit', 'monthly_allowance'] as const;
type ImportColumn = (typeof COLUMNS)[number];

/** An account in the file. */
interface ImportedAccount {
  /** Line number, from 1, including the header. */
  readonly line: number;
  readonly email: string;
  readonly name: string;
  readonly groupName: string | undefined;
  readonly credit: Nanos;
  /** Monthly allowance; 0: none. */
  readonly allowance: Nanos;
}

/** Parsed accounts, or errors, one per line. A file with errors is not imported. */
interface AccountFile {
  readonly accounts: readonly ImportedAccount[];
  readonly errors: readonly string[];
}

interface ImportRow {
  readonly info: { readonly lines: number };
  readonly record: Readonly<Partial<Record<ImportColumn, string>>>;
}

/** Parses CSV with a header; all columns but `email` are optional. */
export function parseAccountFile(text: string): AccountFile {
  let rows: readonly ImportRow[];
  try {
    rows = parse(text, {
      columns: columnsOf,
      bom: true,
      info: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as ImportRow[];
  } catch (error) {
    return { accounts: [], errors: [`${reasonOf(error)}.`] };
  }
  const errors: string[] = [];
  const seen = new Map<string, number>();
  const accounts = rows.flatMap(({ record, info: { lines: line } }) => {
    const found = accountErrors(record, seen, line);
    errors.push(...found.map((fault) => `line ${line}: ${fault}`));
    return found.length > 0 ? [] : [accountOf(record, line)];
  });
  if (rows.length === 0) errors.push('The file has no accounts.');
  return { accounts, errors };
}

function columnsOf(header: readonly string[]): ImportColumn[] {
  const unknown = header.filter((name) => !COLUMNS.some((column) => column === name));
  if (unknown.length > 0 || !header.includes('email') || new Set(header).size < header.length)
    throw new Error(`The first line must list columns from ${COLUMNS.join(', ')}, each at most once, including email`);
  return header as ImportColumn[];
}

function accountErrors(record: ImportRow['record'], seen: Map<string, number>, line: number): string[] {
  const { email: typed = '', name = '', credit = '', monthly_allowance: allowance = '' } = record;
  const errors: string[] = [];
  const email = normalizeEmail(typed);
  if (email === undefined) errors.push(`"${typed}" is not a valid email address.`);
  else if (seen.has(email)) errors.push(`${email} is already on line ${seen.get(email)}.`);
  else seen.set(email, line);
  if (!/^[^\p{Cc}]{0,100}$/u.test(name)) errors.push('A name has at most 100 characters and no line breaks.');
  for (const amount of [credit, allowance])
    if (amount !== '' && !/^\d{1,9}(\.\d{1,9})?$/.test(amount))
      errors.push(`"${amount}" is not a valid amount. Use a plain decimal in dollars, such as 5 or 0.50.`);
  return errors;
}

const accountOf = (
  { email = '', name = '', group = '', credit = '', monthly_allowance: allowance = '' }: ImportRow['record'],
  line: number,
): ImportedAccount => ({
  line,
  email: normalizeEmail(email) ?? '',
  name,
  groupName: group === '' ? undefined : group,
  credit: credit === '' ? ZERO : parseUsd(credit),
  allowance: allowance === '' ? ZERO : parseUsd(allowance),
});
