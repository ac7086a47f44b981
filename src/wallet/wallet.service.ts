import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../platform/audit/index.js';
import { Clock, formatUsd, MAX_AMOUNT, type Nanos, nanos, newId, ZERO } from '../platform/shared/index.js';
import { freeIn, type LedgerSides, takeBack, topUp, type WalletEntity } from './wallet.entity.js';
import { InvalidAmount, DebitTooLarge, WalletClosed, WalletInUse, WalletNotFound } from './wallet.errors.js';
import { type MovementKind, WalletRepository } from './wallet.repository.js';

/** A wallet's figures in nano-dollars; `balance - held` is available. */
export interface WalletBalance {
  readonly balance: Nanos;
  /** Held for running calls; part of the balance. */
  readonly held: Nanos;
  /** Number of running calls that hold it. */
  readonly holds: number;
  /** Debt after a reversed payment; no calls are admitted while it is positive. */
  readonly owed: Nanos;
}

/** Current figures of a wallet, and those after a change. */
export interface WalletPreview {
  readonly before: WalletBalance;
  readonly after: WalletBalance;
}

/** Figures after a movement, and its ledger entry. */
export interface LedgerResult {
  readonly entryId: string;
  readonly wallet: WalletBalance;
}

/** Kinds that move one wallet. Allowances have their own service. */
type OrderKind = Exclude<MovementKind, 'allowance' | 'expiry'>;

/** A movement, computed on the locked wallet. */
interface MovementOrder {
  readonly accountId: string;
  readonly kind: OrderKind;
  readonly reason: string;
  /** Undefined: now. */
  readonly at?: Date | undefined;
  /** @throws AppError when the wallet does not allow it */
  readonly movementOn: (wallet: WalletEntity) => LedgerSides;
}

/** Wallets, and credits and debits by administrators. Calls are admitted and settled by relay/billing. */
@Injectable()
export class WalletService {
  constructor(
    private readonly wallets: WalletRepository,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
  ) {}

  /** Creates an empty wallet in the transaction that creates the account. */
  async create(accountId: string, manager: EntityManager): Promise<void> {
    await this.wallets.insert(accountId, manager);
  }

  /**
   * Moves money between the house and a wallet, with its ledger entry. Returns the new figures.
   * @param amount positive: a top-up, which pays debts first; negative: a debit of at most what is free
   * @param manager transaction; its own if absent
   * @param at time of the movement; default: now
   * @throws WalletNotFound, WalletClosed, DebitTooLarge, InvalidAmount
   */
  async credit(
    accountId: string,
    amount: Nanos,
    reason: string,
    manager?: EntityManager,
    at?: Date,
  ): Promise<WalletBalance> {
    if (amount === 0n) throw InvalidAmount.zero();
    const order: MovementOrder =
      amount > 0n
        ? { accountId, kind: 'credit', reason, at, movementOn: (wallet) => topUp(wallet, amount) }
        : { accountId, kind: 'debit', reason, at, movementOn: (wallet) => debit(wallet, nanos(-amount)) };
    return (await this.within(manager, (own) => this.enter(order, own))).wallet;
  }

  /**
   * The result of `credit` without executing it.
   * @throws WalletNotFound, DebitTooLarge, InvalidAmount
   */
  async preview(accountId: string, amount: Nanos): Promise<WalletPreview> {
    const [wallet] = await this.wallets.find([accountId]);
    if (!wallet) throw new WalletNotFound(accountId);
    if (amount === 0n) throw InvalidAmount.zero();
    const movement = amount > 0n ? topUp(wallet, amount) : debit(wallet, nanos(-amount));
    const balance = nanos(wallet.balance + movement.wallet);
    if (balance > MAX_AMOUNT) throw InvalidAmount.balanceOutOfRange();
    return {
      before: balanceIn(wallet),
      after: { ...balanceIn(wallet), balance, owed: nanos(wallet.owed - movement.owed) },
    };
  }

  /**
   * Credits a redeemed code in the transaction that marks it as redeemed. Debts are paid first.
   * @throws WalletNotFound, WalletClosed, InvalidAmount
   */
  redeem(accountId: string, amount: Nanos, reason: string, manager: EntityManager): Promise<LedgerResult> {
    return this.enter(
      { accountId, kind: 'redemption', reason, movementOn: (wallet) => topUp(wallet, amount) },
      manager,
    );
  }

  /**
   * Credits a payment in the transaction that marks it as paid. Debts are paid first.
   * @throws WalletNotFound, InvalidAmount
   */
  pay(accountId: string, amount: Nanos, reason: string, manager: EntityManager): Promise<LedgerResult> {
    return this.enter({ accountId, kind: 'payment', reason, movementOn: (wallet) => topUp(wallet, amount) }, manager);
  }

  /**
   * Reverses a payment that was refunded or disputed, which cannot be refused: the free balance is taken at once, the
   * rest becomes debt. While there is debt, no calls are admitted, and deposits and released holds pay it first.
   * @param amount positive
   * @param manager transaction; its own if absent
   * @throws WalletNotFound, InvalidAmount
   */
  async recordOwed(accountId: string, amount: Nanos, reason: string, manager?: EntityManager): Promise<LedgerResult> {
    if (amount <= 0n) throw InvalidAmount.notPositive();
    const order: MovementOrder = {
      accountId,
      kind: 'refund',
      reason,
      movementOn: (wallet) => takeBack(wallet, amount),
    };
    return this.within(manager, (own) => this.enter(order, own));
  }

  /**
   * Empties the wallet in the transaction that deletes the account. Debt remains on record.
   * @throws WalletInUse while calls run, WalletNotFound
   */
  async empty(accountId: string, reason: string, manager: EntityManager): Promise<void> {
    const wallet = await this.wallets.lock(accountId, manager);
    if (!wallet) throw new WalletNotFound(accountId);
    if (wallet.holds > 0) throw new WalletInUse(wallet.holds);
    const { balance } = wallet;
    if (balance === 0n) return;
    const movementOn = (): LedgerSides => ({ wallet: nanos(-balance), owed: ZERO });
    await this.enter({ accountId, kind: 'debit', reason, movementOn }, manager);
  }

  /**
   * Serializes movements of the wallet and deletion of its account until the transaction ends: what is read of the
   * account then stays true.
   * @throws WalletNotFound
   */
  async lock(accountId: string, manager: EntityManager): Promise<void> {
    if (!(await this.wallets.lock(accountId, manager))) throw new WalletNotFound(accountId);
  }

  /**
   * Whether the account exists. Stays true under the wallet's lock, since deletion empties the wallet.
   * @param manager transaction that holds the lock
   */
  hasOwner(accountId: string, manager?: EntityManager): Promise<boolean> {
    return this.wallets.hasOwner(accountId, manager);
  }

  /** @throws WalletNotFound */
  async balanceOf(accountId: string): Promise<WalletBalance> {
    const [wallet] = await this.wallets.find([accountId]);
    if (!wallet) throw new WalletNotFound(accountId);
    return balanceIn(wallet);
  }

  /** Whether the wallet was ever credited. */
  everFunded(accountId: string): Promise<boolean> {
    return this.wallets.hasEntries(accountId);
  }

  /** By account ID; accounts without a wallet are missing. */
  async balancesOf(accountIds: readonly string[]): Promise<ReadonlyMap<string, WalletBalance>> {
    const wallets = await this.wallets.find(accountIds);
    return new Map(wallets.map((wallet) => [wallet.accountId, balanceIn(wallet)]));
  }

  private within<T>(manager: EntityManager | undefined, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return manager ? work(manager) : this.wallets.transaction(work);
  }

  private async enter(order: MovementOrder, manager: EntityManager): Promise<LedgerResult> {
    const { accountId, kind, reason, at: createdAt = this.clock.date(), movementOn } = order;
    const wallet = await this.wallets.lock(accountId, manager);
    if (!wallet) throw new WalletNotFound(accountId);
    // After waiting for a deletion, the wallet would be filled again.
    if (GIFTS.has(kind) && !(await this.hasOwner(accountId, manager))) throw new WalletClosed();
    const movement = movementOn(wallet);
    if (wallet.balance + movement.wallet > MAX_AMOUNT) throw InvalidAmount.balanceOutOfRange();
    const entryId = newId('led', createdAt.getTime());
    const entry = { id: entryId, kind, reason, createdAt, movement };
    const moved = await this.wallets.move(wallet, entry, manager);
    await this.record(order, wallet, moved, manager);
    return { entryId, wallet: balanceIn(moved) };
  }

  private async record(
    order: MovementOrder,
    before: WalletEntity,
    after: WalletEntity,
    manager: EntityManager,
  ): Promise<void> {
    const { accountId: id, kind, reason } = order;
    const object = await this.wallets.ownerOf(id, manager);
    await this.audit.record({ action: ACTIONS[kind], object, lines: [...linesOf(before, after)], reason }, manager);
  }
}

/** Kinds that a deleted account is refused; payments to it are checked in `PaymentProcessor`. */
const GIFTS: ReadonlySet<OrderKind> = new Set(['credit', 'redemption']);

const ACTIONS: Readonly<Record<OrderKind, string>> = {
  credit: 'credited',
  debit: 'debited',
  redemption: 'redeemed a code for',
  payment: 'credited a payment to',
  refund: 'reversed a payment of',
};

function* linesOf(before: WalletEntity, after: WalletEntity): Generator<string> {
  const change = (was: Nanos, is: Nanos): string => `$${formatUsd(was)} → $${formatUsd(is)}`;
  if (after.balance !== before.balance) yield `balance ${change(before.balance, after.balance)}`;
  if (after.owed !== before.owed) yield `owed ${change(before.owed, after.owed)}`;
}

function debit(wallet: WalletEntity, amount: Nanos): LedgerSides {
  const free = freeIn(wallet);
  if (amount > free) throw new DebitTooLarge(amount, free, wallet);
  return { wallet: nanos(-amount), owed: ZERO };
}

const balanceIn = ({ balance, held, holds, owed }: WalletEntity): WalletBalance => ({ balance, held, holds, owed });
