import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AccountMails, AccountService, Verifications } from '../../../auth/index.js';
import { CatalogEditor } from '../../../catalog/index.js';
import { AppError, reasonOf } from '../../../platform/shared/index.js';
import { Onboarding } from '../onboarding.service.js';
import { type ImportedAccount, parseAccountFile } from './account-file.js';

/** Nothing of the file was imported. */
export class ImportRefused extends AppError {
  constructor(
    /** A sentence each; all but those about the whole file begin with their line. */
    readonly faults: readonly string[],
  ) {
    super(
      'invalid_request',
      faults.length === 1 ? (faults[0] ?? '') : `${faults.length} errors; nothing was imported.`,
    );
  }
}

/** An account that was made. */
export interface MadeAccount {
  readonly id: string;
  readonly email: string;
}

/** An invitation that could not be sent. */
export interface FailedInvitation {
  readonly email: string;
  readonly reason: string;
}

/** Accounts out of a file: all of them or none. They have no password until their owners have chosen one. */
@Injectable()
export class AccountImport {
  constructor(
    private readonly accounts: AccountService,
    private readonly onboarding: Onboarding,
    private readonly catalog: CatalogEditor,
    private readonly verifications: Verifications,
    private readonly mails: AccountMails,
  ) {}

  /** @throws ImportRefused */
  run(text: string): Promise<readonly MadeAccount[]> {
    const { accounts, faults } = parseAccountFile(text);
    return this.accounts.within(async (manager) => {
      const all = [...faults, ...(await this.faultsIn(accounts, manager))];
      if (all.length > 0) throw new ImportRefused(all.toSorted((one, other) => lineOf(one) - lineOf(other)));
      const made: MadeAccount[] = [];
      for (const account of accounts) made.push(await this.make(account, manager));
      return made;
    });
  }

  /** Mails each a link with which they choose their password; one after the other, since nobody waits for a page. */
  async invite(accounts: readonly MadeAccount[]): Promise<readonly FailedInvitation[]> {
    const failed: FailedInvitation[] = [];
    for (const { id: subject, email } of accounts) {
      const proof = await this.verifications.issue({ purpose: 'invite', subject, email });
      await this.mails
        .deliverProof('invite', email, proof)
        .catch((error: unknown) => void failed.push({ email, reason: reasonOf(error) }));
    }
    return failed;
  }

  private async faultsIn(accounts: readonly ImportedAccount[], manager: EntityManager): Promise<readonly string[]> {
    const { groups } = await this.catalog.names(manager);
    const faults: string[] = [];
    for (const { line, email, groupName } of accounts) {
      if (groupName !== undefined && !groups.has(groupName))
        faults.push(`line ${line}: there is no group ${groupName}.`);
      if (await this.accounts.taken(email, manager)) faults.push(`line ${line}: there is an account ${email} already.`);
    }
    return faults;
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
