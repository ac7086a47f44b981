import { Injectable } from '@nestjs/common';
import { AlertBook } from '../alerts/index.js';
import { AccountStatus } from '../../auth/index.js';
import { ApiKeyService, KeyNotices } from '../index.js';
import { WalletClosure } from '../../wallet/index.js';

/** Deletes accounts. */
@Injectable()
export class AccountDeletion {
  constructor(
    private readonly standing: AccountStatus,
    private readonly wallets: WalletClosure,
    private readonly keys: ApiKeyService,
    private readonly notices: KeyNotices,
    private readonly alerts: AlertBook,
  ) {}

  /**
   * Deletes an account's sessions, keys and name, and frees its email address. The remaining balance goes to the house
   * account and stays in the ledger, as calls stay in the log; open payments can no longer be paid. Atomic, apart from
   * closing payments at the provider.
   * @throws WalletInUse while calls run, LastAdministrator, AccountGone
   */
  async run(id: string): Promise<void> {
    const unpaid = await this.standing.delete(id, async (manager) => {
      // The wallet before the keys, in the lock order of settlement.
      const closed = await this.wallets.close(id, 'Account deleted', manager);
      await this.keys.deleteAllOf(id, manager);
      await this.notices.deleteAllOf(id, manager);
      await this.alerts.forget(id, manager);
      return closed;
    });
    await this.wallets.abandon(unpaid);
  }
}
