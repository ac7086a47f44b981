import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In } from 'typeorm';
import type { AuditEntry } from '../platform/audit/index.js';
import { type Nanos, nanos } from '../platform/shared/index.js';
import { AllowanceRepository } from './allowance/allowance.repository.js';
import { LedgerEntryEntity, LedgerLineEntity, type LedgerSides, WalletEntity } from './wallet.entity.js';

/** The house account of each kind of entry. */
const HOUSE_ACCOUNT = {
  credit: 'grants',
  debit: 'grants',
  redemption: 'grants',
  payment: 'payments',
  refund: 'payments',
  allowance: 'allowance',
  expiry: 'allowance',
} as const;
export type MovementKind = keyof typeof HOUSE_ACCOUNT;

/** An entry between an account and the house. */
interface MovementEntry {
  readonly id: string;
  readonly kind: MovementKind;
  readonly reason: string;
  readonly createdAt: Date;
  readonly movement: LedgerSides;
}

const OWNER = `
  SELECT CASE kind WHEN 'organization' THEN kind ELSE 'account' END AS kind,
         CASE kind WHEN 'organization' THEN name ELSE email END AS name
    FROM accounts WHERE id = $1`;

@Injectable()
export class WalletRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly allowances: AllowanceRepository,
  ) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  async insert(accountId: string, manager: EntityManager): Promise<void> {
    await manager.insert(WalletEntity, { accountId });
  }

  find(accountIds: readonly string[]): Promise<readonly WalletEntity[]> {
    return this.dataSource.getRepository(WalletEntity).findBy({ accountId: In([...accountIds]) });
  }

  /** The account as the object of an audit entry. Reads `accounts`, which auth writes. */
  async ownerOf(accountId: string, manager: EntityManager): Promise<AuditEntry['object']> {
    const [row] = await manager.query<{ kind: 'account' | 'organization'; name: string }[]>(OWNER, [accountId]);
    return { kind: row?.kind ?? 'account', id: accountId, name: row?.name ?? accountId };
  }

  /** Whether the account is not deleted. Reads `accounts`, which auth writes. */
  async hasOwner(accountId: string, manager = this.dataSource.manager): Promise<boolean> {
    const found = `SELECT 1 FROM accounts WHERE id = $1 AND state <> 'deleted'`;
    return (await manager.query<unknown[]>(found, [accountId])).length > 0;
  }

  hasEntries(accountId: string): Promise<boolean> {
    return this.dataSource.getRepository(LedgerLineEntity).existsBy({ ledgerAccount: `wallet:${accountId}` });
  }

  /** Locked until the transaction ends; admission and settlement of the account wait. */
  lock(accountId: string, manager: EntityManager): Promise<WalletEntity | null> {
    return manager.findOne(WalletEntity, { where: { accountId }, lock: { mode: 'pessimistic_write' } });
  }

  /** Writes the entry and updates the locked wallet. Returns its new figures. */
  async move(wallet: WalletEntity, entry: MovementEntry, manager: EntityManager): Promise<WalletEntity> {
    const { id, kind, reason, createdAt, movement } = entry;
    const { accountId } = wallet;
    const sides: readonly (readonly [ledgerAccount: string, amount: Nanos])[] = [
      [`wallet:${accountId}`, movement.wallet],
      [`owed:${accountId}`, movement.owed],
      [HOUSE_ACCOUNT[kind], nanos(-movement.wallet - movement.owed)],
    ];
    const lines = sides.filter(([, amount]) => amount !== 0n);
    await manager.insert(LedgerEntryEntity, { id, kind, reason, createdAt });
    await manager.insert(
      LedgerLineEntity,
      lines.map(([ledgerAccount, amount]) => ({ entryId: id, ledgerAccount, amount })),
    );
    const balance = nanos(wallet.balance + movement.wallet);
    const owed = nanos(wallet.owed - movement.owed);
    await manager.update(WalletEntity, { accountId }, { balance, owed });
    const moved = { ...wallet, balance, owed };
    await this.allowances.follow(wallet, moved, manager);
    return moved;
  }
}
