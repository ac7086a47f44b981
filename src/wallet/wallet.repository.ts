import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In } from 'typeorm';
import type { Nanos } from '../shared/index.js';
import { LedgerEntryEntity, type LedgerEntryKind, LedgerLineEntity } from './ledger.entity.js';
import { WalletEntity } from './wallet.entity.js';

/** An entry between a wallet and a house account: what one gains, the other loses. */
interface TransferEntry {
  readonly id: string;
  readonly kind: LedgerEntryKind;
  readonly reason: string;
  readonly accountId: string;
  readonly houseAccount: 'grants';
  /** What the wallet gains; negative: loses. */
  readonly amount: Nanos;
}

@Injectable()
export class WalletRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  async insert(accountId: string, manager: EntityManager): Promise<void> {
    await manager.insert(WalletEntity, { accountId });
  }

  find(accountIds: readonly string[]): Promise<readonly WalletEntity[]> {
    return this.dataSource.getRepository(WalletEntity).findBy({ accountId: In([...accountIds]) });
  }

  /** Held until the transaction ends; admissions and settlements of this account wait that long. */
  lock(accountId: string, manager: EntityManager): Promise<WalletEntity | null> {
    return manager.findOne(WalletEntity, { where: { accountId }, lock: { mode: 'pessimistic_write' } });
  }

  async setBalance(accountId: string, balance: Nanos, manager: EntityManager): Promise<void> {
    await manager.update(WalletEntity, { accountId }, { balance });
  }

  async addEntry(entry: TransferEntry, manager: EntityManager): Promise<void> {
    const { id, kind, reason, accountId, houseAccount, amount } = entry;
    await manager.insert(LedgerEntryEntity, { id, kind, reason });
    await manager.insert(LedgerLineEntity, [
      { entryId: id, ledgerAccount: `wallet:${accountId}`, amount },
      { entryId: id, ledgerAccount: houseAccount, amount: -amount },
    ]);
  }
}
