import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock, MAX_AMOUNT, type Nanos, nanos, newId } from '../shared/index.js';
import type { WalletEntity } from './wallet.entity.js';
import { AmountNotPossible, DebitTooLarge, WalletNotFound } from './wallet.errors.js';
import { WalletRepository } from './wallet.repository.js';

/** What an account has. Nano-dollars; what is free to spend is `balance - held`. */
export interface WalletBalance {
  readonly balance: Nanos;
  /** On hold for running calls; part of the balance. */
  readonly held: Nanos;
  /** Number of running calls that hold it. */
  readonly holds: number;
  /** What the account owes after a payment was taken back; nothing is admitted while it does. */
  readonly owed: Nanos;
}

/** Wallets and the operator's credits and debits. What calls take is admitted and settled elsewhere. */
@Injectable()
export class WalletService {
  constructor(
    private readonly wallets: WalletRepository,
    private readonly clock: Clock,
  ) {}

  /** An empty wallet for a new account, in the transaction that makes the account. */
  async create(accountId: string, manager: EntityManager): Promise<void> {
    await this.wallets.insert(accountId, manager);
  }

  /**
   * Moves money between the house and a wallet, with its ledger entry, and returns what the wallet has then.
   * @param amount positive: a top-up; negative: a debit of at most what is free
   * @param manager the transaction to do it in; one of its own when absent
   * @throws WalletNotFound, DebitTooLarge, AmountNotPossible
   */
  credit(accountId: string, amount: Nanos, reason: string, manager?: EntityManager): Promise<WalletBalance> {
    const work = (within: EntityManager): Promise<WalletBalance> => this.move(accountId, amount, reason, within);
    return manager ? work(manager) : this.wallets.transaction(work);
  }

  /** @throws WalletNotFound */
  async balanceOf(accountId: string): Promise<WalletBalance> {
    const [wallet] = await this.wallets.find([accountId]);
    if (!wallet) throw new WalletNotFound(accountId);
    return balanceIn(wallet);
  }

  /** By account id; an account without a wallet has no entry. */
  async balancesOf(accountIds: readonly string[]): Promise<ReadonlyMap<string, WalletBalance>> {
    const wallets = await this.wallets.find(accountIds);
    return new Map(wallets.map((wallet) => [wallet.accountId, balanceIn(wallet)]));
  }

  private async move(accountId: string, amount: Nanos, reason: string, manager: EntityManager): Promise<WalletBalance> {
    if (amount === 0n) throw AmountNotPossible.zero();
    const wallet = await this.wallets.lock(accountId, manager);
    if (!wallet) throw new WalletNotFound(accountId);
    const free = nanos(wallet.balance - wallet.held);
    if (free + amount < 0n) throw new DebitTooLarge(nanos(-amount), free, wallet.held);
    const balance = nanos(wallet.balance + amount);
    if (balance > MAX_AMOUNT) throw AmountNotPossible.balanceOutOfRange();
    const entry = { id: newId('led', this.clock.now()), kind: amount > 0n ? 'credit' : 'debit', reason } as const;
    await this.wallets.addEntry({ ...entry, accountId, houseAccount: 'grants', amount }, manager);
    await this.wallets.setBalance(accountId, balance, manager);
    return { ...balanceIn(wallet), balance };
  }
}

const balanceIn = ({ balance, held, holds, owed }: WalletEntity): WalletBalance => ({ balance, held, holds, owed });
