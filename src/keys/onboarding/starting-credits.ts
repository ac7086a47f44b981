import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { alikeForm } from '../../auth/index.js';
import { Settings } from '../../platform/settings/index.js';
import { WalletService } from '../../wallet/index.js';

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
