import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { hash } from 'node:crypto';
import {
  AccountService,
  AccountStatus,
  alikeForm,
  type CreatedAccount,
  generatePassword,
  type NewAccount,
  type PreparedAccount,
} from '../../auth/index.js';
import { Settings } from '../../platform/settings/index.js';
import { type Nanos, parseUsd } from '../../platform/shared/index.js';
import { AllowanceService, WalletClosure, WalletService } from '../../wallet/index.js';
import { AlertQueue } from '../alerts/index.js';
import { ApiKeyService, KeyNotices, Memberships } from '../index.js';

/** Starting credit of an account. */
export interface OpeningCredit {
  readonly amount: Nanos;
  readonly reason: string;
}

/** Printed once, on the first run. */
export interface FirstRun {
  readonly email: string;
  readonly password: string;
  readonly keySecret: string;
  readonly credit: Nanos;
}

const FIRST_ADMINISTRATOR: NewAccount = {
  // `.internal` is never resolved publicly, so this administrator's mail cannot reach anyone else.
  email: 'admin@switchboard.internal',
  name: 'Administrator',
  passwordIsTemporary: true,
  role: 'admin',
  verified: true,
};
const FIRST_CREDIT: OpeningCredit = { amount: parseUsd('5'), reason: 'Opening credit of the first administrator' };

/** Creates accounts together with their wallet and credit. */
@Injectable()
export class Onboarding {
  constructor(
    private readonly dataSource: DataSource,
    private readonly accounts: AccountService,
    private readonly wallets: WalletService,
    private readonly allowances: AllowanceService,
    private readonly keys: ApiKeyService,
  ) {}

  /**
   * Creates an account with its wallet and starting credit, atomically.
   * @param allowance monthly allowance; none if absent
   * @throws AccountExists, InvalidAccount
   * @throws DebitTooLarge, InvalidAmount when the credit is not positive or too large
   */
  async createAccount(account: NewAccount, credit?: OpeningCredit, allowance?: Nanos): Promise<CreatedAccount> {
    const prepared = await this.accounts.prepare(account);
    return this.dataSource.transaction((manager) => this.open(prepared, credit, manager, allowance));
  }

  /**
   * On a database without accounts: creates the first administrator with a temporary password, some credit and a key.
   * Undefined if there are accounts. Safe if several processes start together.
   */
  async firstRun(): Promise<FirstRun | undefined> {
    if (await this.accounts.any()) return undefined;
    const password = generatePassword();
    const prepared = await this.accounts.prepare({ ...FIRST_ADMINISTRATOR, password });
    return this.dataSource.transaction(async (manager) => {
      if (await this.accounts.anyForSure(manager)) return undefined;
      const { id, email } = await this.open(prepared, FIRST_CREDIT, manager);
      const { secret } = await this.keys.create({ accountId: id, name: 'first key' }, manager);
      return { email, password: password.reveal(), keySecret: secret.reveal(), credit: FIRST_CREDIT.amount };
    });
  }

  /** The same within a larger transaction. @throws as above */
  async open(
    prepared: PreparedAccount,
    credit: OpeningCredit | undefined,
    manager: EntityManager,
    allowance?: Nanos,
  ): Promise<CreatedAccount> {
    const created = await this.accounts.store(prepared, manager);
    await this.wallets.create(created.id, manager);
    if (credit) await this.wallets.credit(created.id, credit.amount, credit.reason, manager);
    if (allowance !== undefined) await this.allowances.set(created.id, allowance, manager);
    return created;
  }
}

/** Deletes accounts. */
@Injectable()
export class AccountDeletion {
  constructor(
    private readonly accountStatus: AccountStatus,
    private readonly wallets: WalletClosure,
    private readonly keys: ApiKeyService,
    private readonly notices: KeyNotices,
    private readonly alerts: AlertQueue,
    private readonly memberships: Memberships,
  ) {}

  /**
   * Deletes an account's sessions, keys and name, and frees its email address. The remaining balance goes to the house
   * account and stays in the ledger, as calls stay in the log; open payments can no longer be paid. Atomic, apart from
   * closing payments at the provider.
   * @param reason of the ledger entry that empties the wallet
   * @param check runs first, on the locked account; nothing is deleted if it throws
   * @throws WalletInUse while calls run, LastAdministrator, OwnsOrganizations, AccountGone, and errors of `check`
   */
  async run(id: string, reason = 'Account deleted', check?: (manager: EntityManager) => Promise<void>): Promise<void> {
    const unpaid = await this.accountStatus.delete(id, async (manager) => {
      await check?.(manager);
      // The wallet before the keys, in the lock order of settlement.
      const closed = await this.wallets.close(id, reason, manager);
      await this.keys.deleteAllOf(id, manager);
      await this.memberships.endAllOf(id, manager);
      await this.notices.deleteAllOf(id, manager);
      await this.alerts.deleteAllOf(id, manager);
      return closed;
    });
    await this.wallets.abandon(unpaid);
  }
}

const CLAIM = `
  INSERT INTO starting_credits (address_hash) VALUES ($1)
  ON CONFLICT (address_hash) DO NOTHING RETURNING address_hash`;

/** Credits a mailbox once, when it is verified: not again after address changes, nor for other spellings. */
@Injectable()
export class StartingCredits {
  constructor(
    private readonly settings: Settings,
    private readonly wallets: WalletService,
  ) {}

  /**
   * Runs in the transaction that verifies the address.
   * @param first whether it is the account's first verified address; later ones get no credit but count as credited
   */
  async give(accountId: string, email: string, first: boolean, manager: EntityManager): Promise<void> {
    const claimed = await manager.query<unknown[]>(CLAIM, [hash('sha256', alikeForm(email), 'buffer')]);
    const { startingCredit } = this.settings.current().signUp;
    if (claimed.length === 1 && first && startingCredit > 0n)
      await this.wallets.credit(accountId, startingCredit, 'Starting credit', manager);
  }
}
