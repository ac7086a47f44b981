import { Injectable } from '@nestjs/common';
import { AuditLog } from '../platform/audit/index.js';
import { Clock, formatUsd, generateCode, hashCode, MAX_AMOUNT, type Nanos, newId } from '../platform/shared/index.js';
import {
  type CodeFilter,
  CodeNotRedeemable,
  type CodePosition,
  CodesNotPossible,
  type CodeState,
  type ListedCode,
  type RedemptionCodeEntity,
} from './redemption-code.js';
import { type NewCodeRow, RedemptionRepository } from './redemption.repository.js';
import { type WalletBalance, WalletService } from './wallet.service.js';

/** Common properties of new codes. */
interface CodeBatch {
  readonly amount: Nanos;
  readonly count: number;
  /** Undefined: never. */
  readonly expiresAt?: Date | undefined;
  readonly note?: string | undefined;
}

export interface RedemptionCode extends ListedCode {
  readonly state: CodeState;
}

/** A created batch: the only time the codes are visible. */
interface MadeCodes {
  readonly batchId: string;
  readonly codes: readonly string[];
}

export interface Redemption {
  readonly amount: Nanos;
  readonly wallet: WalletBalance;
}

const MAX_BATCH = 1000;
/** Characters of 5 bits: 140 bits. */
const CODE_LENGTH = 28;

/** Redemption codes: each credits one wallet, once. */
@Injectable()
export class RedemptionService {
  constructor(
    private readonly codes: RedemptionRepository,
    private readonly wallets: WalletService,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Creates codes, all or none. They are returned once and not stored.
   * @throws CodesNotPossible
   */
  async create({ amount, count, expiresAt, note = '' }: CodeBatch): Promise<MadeCodes> {
    const createdAt = this.clock.date();
    if (amount <= 0n || amount > MAX_AMOUNT) throw CodesNotPossible.amount();
    if (!Number.isInteger(count) || count < 1 || count > MAX_BATCH) throw CodesNotPossible.count(MAX_BATCH);
    if (!/^[^\p{Cc}]{0,200}$/u.test(note)) throw CodesNotPossible.note();
    if (expiresAt !== undefined && expiresAt <= createdAt) throw CodesNotPossible.expired();
    const made = Array.from({ length: count }, () => generateCode(CODE_LENGTH));
    const batchId = newId('bat', createdAt.getTime());
    const like = { batchId, amount, note, expiresAt: expiresAt ?? null, createdAt };
    await this.codes.transaction(async (manager) => {
      await this.codes.insert(
        made.map((code) => rowOf(code, like)),
        manager,
      );
      const object = { kind: 'code', id: batchId, name: codesName(count, amount) } as const;
      const lines = [`expires ${expiresAt?.toISOString() ?? 'never'}`];
      await this.audit.record({ action: 'created', object, lines, reason: note }, manager);
    });
    return { batchId, codes: made };
  }

  /** All codes, oldest first. */
  async list(): Promise<readonly RedemptionCode[]> {
    const now = this.clock.date();
    return (await this.codes.list()).map((code) => ({ ...code, state: stateOf(code, now) }));
  }

  /** Newest first. */
  async page(filter: CodeFilter, position: CodePosition, size: number): Promise<readonly RedemptionCode[]> {
    const now = this.clock.date();
    const found = await this.codes.page(filter, position, size, now);
    return found.map((code) => ({ ...code, state: stateOf(code, now) }));
  }

  /**
   * Voids an open code, or all open codes of a batch; returns their number. Concurrent redemptions succeed before it or
   * are refused.
   */
  void(id: string): Promise<number> {
    return this.codes.transaction(async (manager) => {
      const voided = await this.codes.void(id, this.clock.date(), manager);
      const [first] = voided;
      if (first === undefined) return 0;
      const object = { kind: 'code', id, name: codesName(voided.length, first.amount) } as const;
      await this.audit.record({ action: 'voided', object, reason: first.note }, manager);
      return voided.length;
    });
  }

  /**
   * Credits a wallet with a code's value; debts are paid first. Of concurrent attempts one succeeds.
   * @param typed code in any spelling
   * @throws CodeNotRedeemable, WalletNotFound, WalletClosed, AmountNotPossible
   */
  redeem(accountId: string, typed: string): Promise<Redemption> {
    const codeHash = hashCode(typed, CODE_LENGTH);
    if (codeHash === undefined) return Promise.reject(CodeNotRedeemable.unknown());
    return this.codes.transaction(async (manager) => {
      // The code before the wallet, always, to avoid deadlocks.
      const code = await this.codes.lock(codeHash, manager);
      const redeemedAt = this.clock.date();
      const { id, amount } = redeemable(code, accountId, redeemedAt);
      const { entryId, wallet } = await this.wallets.redeem(accountId, amount, `Redemption code ${id}`, manager);
      await this.codes.markRedeemed(id, { redeemedBy: accountId, redeemedAt, entryId }, manager);
      return { amount, wallet };
    });
  }
}

/** `20 codes of $5`. */
const codesName = (count: number, amount: Nanos): string =>
  `${count === 1 ? 'a code' : `${count} codes`} of $${formatUsd(amount)}`;

function rowOf(code: string, like: Omit<NewCodeRow, 'id' | 'codeHash'>): NewCodeRow {
  const codeHash = hashCode(code, CODE_LENGTH);
  if (codeHash === undefined) throw new TypeError('Created an invalid code.');
  return { ...like, id: newId('cod', like.createdAt.getTime()), codeHash };
}

function stateOf({ redeemedAt, voidedAt, expiresAt }: ListedCode, now: Date): CodeState {
  if (redeemedAt !== null) return 'redeemed';
  if (voidedAt !== null) return 'voided';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'open';
}

/** @throws CodeNotRedeemable */
function redeemable(code: RedemptionCodeEntity | null, accountId: string, now: Date): RedemptionCodeEntity {
  if (code === null) throw CodeNotRedeemable.unknown();
  const { redeemedAt, redeemedBy, voidedAt, expiresAt } = code;
  if (redeemedAt !== null)
    throw redeemedBy === accountId
      ? CodeNotRedeemable.redeemedByYou(redeemedAt)
      : CodeNotRedeemable.redeemedByAnother();
  if (voidedAt !== null) throw CodeNotRedeemable.voided();
  if (expiresAt !== null && expiresAt <= now) throw CodeNotRedeemable.expired(expiresAt);
  return code;
}
