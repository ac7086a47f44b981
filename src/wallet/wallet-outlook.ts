import { Injectable } from '@nestjs/common';
import { Settings } from '../platform/settings/index.js';
import type { Nanos } from '../platform/shared/index.js';
import { TimeLimitedReads } from '../usage/index.js';
import { type AllowanceOutlook, allowanceOf } from './allowance/allowance-outlook.js';
import { WalletStatement } from './wallet-statement.js';
import { type WalletBalance, WalletService } from './wallet.service.js';

/** State of a wallet, and how long it will last. */
export interface Outlook {
  readonly wallet: WalletBalance;
  /** Spending per day; undefined during the first three days. */
  readonly pace: Nanos | undefined;
  readonly allowance: AllowanceOutlook | undefined;
  /** Whether the wallet was ever credited. */
  readonly everFunded: boolean;
  /** Whether it can be topped up by payment. */
  readonly payable: boolean;
}

@Injectable()
export class WalletOutlook {
  constructor(
    private readonly wallets: WalletService,
    private readonly statement: WalletStatement,
    private readonly reads: TimeLimitedReads,
    private readonly settings: Settings,
  ) {}

  /** @throws WalletNotFound */
  async of(accountId: string, now: Date): Promise<Outlook> {
    const [wallet, { pace, allowance }, everFunded] = await Promise.all([
      this.wallets.balanceOf(accountId),
      this.reads.read(async (query) => ({
        pace: await this.statement.pace(query, accountId, now),
        allowance: await allowanceOf(query, accountId),
      })),
      this.wallets.everFunded(accountId),
    ]);
    const payable = this.settings.current().payment.off === undefined;
    return { wallet, pace, allowance, everFunded, payable };
  }
}
