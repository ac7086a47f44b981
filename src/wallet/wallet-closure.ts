import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../platform/shared/index.js';
import { AllowanceService } from './allowance/allowance.service.js';
import { CheckoutService } from './payments/checkout.service.js';
import { type ClosedOrder, TopUpRepository } from './payments/top-up.repository.js';
import { WalletService } from './wallet.service.js';

/** The end of a wallet: nothing more is given to it or paid into it, and nothing is left in it. */
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
   * Takes out all that is left, in the transaction that deletes the account, and has nothing paid any more.
   * @returns what could still be paid until then, to be abandoned once that transaction has ended
   * @throws WalletInUse while calls run, WalletNotFound
   */
  async close(accountId: string, reason: string, manager: EntityManager): Promise<readonly ClosedOrder[]> {
    // Orders before their wallet, as payments lock them.
    const unpaid = await this.topUps.closeAll(accountId, reason, this.clock.date(), manager);
    await this.allowances.close(accountId, manager);
    await this.wallets.empty(accountId, reason, manager);
    return unpaid;
  }

  /** Has the payment provider close what it has open. Never fails: it closes itself within the hour. */
  abandon(orders: readonly ClosedOrder[]): Promise<void> {
    return this.checkout.abandon(orders);
  }
}
