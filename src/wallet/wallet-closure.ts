import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../platform/shared/index.js';
import { AllowanceService } from './allowance/allowance.service.js';
import { CheckoutService } from './payments/checkout.service.js';
import { type ClosedOrder, TopUpRepository } from './payments/top-up.repository.js';
import { WalletService } from './wallet.service.js';

/** Closes a wallet: it is emptied and receives nothing any more. */
@Injectable()
export class WalletClosure {
  constructor(
    private readonly wallets: WalletService,
    private readonly allowances: AllowanceService,
    private readonly topUps: TopUpRepository,
    private readonly checkout: CheckoutService,
    private readonly clock: Clock,
  ) {}

  /**
   * Empties the wallet and closes payable orders, in the transaction that deletes the account.
   * @returns closed orders, to be passed to `abandon` after the transaction
   * @throws WalletInUse while calls run, WalletNotFound
   */
  async close(accountId: string, reason: string, manager: EntityManager): Promise<readonly ClosedOrder[]> {
    // Orders before their wallet, in the lock order of payments.
    const unpaid = await this.topUps.closeAll(accountId, reason, this.clock.date(), manager);
    await this.allowances.close(accountId, manager);
    await this.wallets.empty(accountId, reason, manager);
    return unpaid;
  }

  /** Expires sessions at the payment provider. Never fails: they expire within the hour by themselves. */
  abandon(orders: readonly ClosedOrder[]): Promise<void> {
    return this.checkout.abandon(orders);
  }
}
