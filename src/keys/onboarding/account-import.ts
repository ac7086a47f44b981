import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AccountService, normalizeEmail } from '../../auth/index.js';
import { CatalogEditor } from '../../catalog/index.js';
import { type Nanos, parseUsd, ZERO } from '../../platform/shared/index.js';
import { amountError, ImportRefused, type ImportRow, parseImport } from './import-file.js';
import { Onboarding } from './onboarding.service.js';

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
      if (all.length > 0) throw new ImportRefused(all);
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

/** Parses CSV with a header; all columns but `email` are optional. */
export function parseAccountFile(text: string): AccountFile {
  const { rows, errors: invalid } = parseImport(text, COLUMNS, ['email']);
  const errors = [...invalid];
  const seen = new Map<string, number>();
  const accounts = rows.flatMap(({ record, line }) => {
    const found = accountErrors(record, seen, line);
    errors.push(...found.map((error) => `line ${line}: ${error}`));
    return found.length > 0 ? [] : [accountOf(record, line)];
  });
  if (rows.length === 0 && errors.length === 0) errors.push('The file has no accounts.');
  return { accounts, errors };
}

type AccountRecord = ImportRow<ImportColumn>['record'];

function accountErrors(record: AccountRecord, seen: Map<string, number>, line: number): string[] {
  const { email: typed = '', name = '', credit = '', monthly_allowance: allowance = '' } = record;
  const errors: string[] = [];
  const email = normalizeEmail(typed);
  if (email === undefined) errors.push(`"${typed}" is not a valid email address.`);
  else if (seen.has(email)) errors.push(`${email} is already on line ${seen.get(email)}.`);
  else seen.set(email, line);
  if (!/^[^\p{Cc}]{0,100}$/u.test(name)) errors.push('A name has at most 100 characters and no line breaks.');
  return [...errors, ...[credit, allowance].flatMap((amount) => amountError(amount) ?? [])];
}

const accountOf = (
  { email = '', name = '', group = '', credit = '', monthly_allowance: allowance = '' }: AccountRecord,
  line: number,
): ImportedAccount => ({
  line,
  email: normalizeEmail(email) ?? '',
  name,
  groupName: group === '' ? undefined : group,
  credit: credit === '' ? ZERO : parseUsd(credit),
  allowance: allowance === '' ? ZERO : parseUsd(allowance),
});
