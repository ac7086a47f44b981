import { Injectable } from '@nestjs/common';
import { AlertBook } from '../alerts/index.js';
import { AccountStatus } from '../../auth/index.js';
import { ApiKeyService, KeyNotices } from '../index.js';
import { WalletClosure } from '../../wallet/index.js';

/** The end of everything that an account was made with. */
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
   * Deletes an account: its sessions, keys and name, and its address, which is free again. What is left in its wallet goes
   * to the house, on record like its calls; what it could still pay cannot be paid any more. All of it or nothing, but for
   * what the payment provider is asked to close.
   * @throws WalletInUse while calls run, LastAdministrator, AccountGone
   */
  async run(id: string): Promise<void> {
    const unpaid = await this.standing.delete(id, async (manager) => {
      // The wallet before the keys, as settlement locks them.
      const closed = await this.wallets.close(id, 'Account deleted', manager);
      await this.keys.deleteAllOf(id, manager);
      await this.notices.deleteAllOf(id, manager);
      await this.alerts.forget(id, manager);
      return closed;
    });
    await this.wallets.abandon(unpaid);
  }
}
