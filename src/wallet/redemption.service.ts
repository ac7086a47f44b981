import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditLog } from '../platform/audit/index.js';
import {
  Clock,
  formatUsd,
  generateCode,
  hashCode,
  MAX_AMOUNT,
  nanos,
  type Nanos,
  newId,
} from '../platform/shared/index.js';
import {
  type CodeFilter,
  CodeNotRedeemable,
  type CodePosition,
  InvalidCodes,
  type CodeState,
  type ListedCode,
  RedemptionCodeEntity,
} from './redemption-code.js';
import { ACCOUNT_NAME } from '../usage/index.js';
import { type WalletBalance, WalletService } from './wallet.service.js';

export type NewCodeRow = Pick<
  RedemptionCodeEntity,
  'id' | 'batchId' | 'codeHash' | 'amount' | 'note' | 'expiresAt' | 'createdAt'
>;

/** Joins accounts for the names in the list. */
const SELECT = `
  SELECT c.id, c.batch_id AS "batchId", c.amount, c.note, c.created_at AS "createdAt", c.expires_at AS "expiresAt",
         c.voided_at AS "voidedAt", c.redeemed_at AS "redeemedAt", ${ACCOUNT_NAME} AS "redeemedBy", a.id AS "redeemedById"
    FROM redemption_codes c LEFT JOIN accounts a ON a.id = c.redeemed_by`;

/** Oldest first. */
const LIST = `${SELECT} ORDER BY c.id`;

const STATE = `
  CASE WHEN c.redeemed_at IS NOT NULL THEN 'redeemed' WHEN c.voided_at IS NOT NULL THEN 'voided'
       WHEN c.expires_at <= $1 THEN 'expired' ELSE 'open' END`;

/** Newest first; of those newer than the position, the closest ones. */
const PAGE = (side: string, order: string): string => `
  ${SELECT}
   WHERE ($2::text IS NULL OR ${STATE} = $2)
     AND ($3::text IS NULL OR c.batch_id = $3)
     AND ($4::text IS NULL OR c.id ILIKE $4 OR c.note ILIKE $4 OR a.email ILIKE $4)
     AND ($5::text IS NULL OR c.id ${side} $5)
   ORDER BY c.id ${order} LIMIT $6`;
const OLDER = PAGE('<', 'DESC');
const NEWER = PAGE('>', 'ASC');

/** Open codes of one ID or batch, locked by ID to avoid deadlocks. */
const VOID = `
  WITH open AS (
    SELECT id FROM redemption_codes
     WHERE (id = $1 OR batch_id = $1) AND redeemed_at IS NULL AND voided_at IS NULL
     ORDER BY id FOR UPDATE)
  UPDATE redemption_codes c SET voided_at = $2 FROM open WHERE c.id = open.id
  RETURNING c.id, c.amount, c.note`;

/** A code that was open until now. */
type VoidedCode = Pick<ListedCode, 'id' | 'amount' | 'note'>;

type CodeRow = Omit<ListedCode, 'amount'> & { readonly amount: string };

const codesIn = (rows: readonly CodeRow[]): readonly ListedCode[] =>
  rows.map((row) => ({ ...row, amount: nanos(BigInt(row.amount)) }));

const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

@Injectable()
export class RedemptionRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  async insert(codes: readonly NewCodeRow[], manager: EntityManager): Promise<void> {
    await manager.insert(RedemptionCodeEntity, [...codes]);
  }

  async list(): Promise<readonly ListedCode[]> {
    return codesIn(await this.dataSource.query<CodeRow[]>(LIST));
  }

  /** Newest first. @param now decides which codes have expired */
  async page(
    filter: CodeFilter,
    { before, after }: CodePosition,
    size: number,
    now: Date,
  ): Promise<readonly ListedCode[]> {
    const { state, batch, text } = filter;
    const sql = after === undefined ? OLDER : NEWER;
    const place = after ?? before ?? null;
    const values = [now, state ?? null, batch ?? null, text === undefined ? null : containing(text), place, size];
    const codes = codesIn(await this.dataSource.query<CodeRow[]>(sql, values));
    return codes.toSorted((one, other) => (one.id < other.id ? 1 : -1));
  }

  /** Returns the codes that were open. @param id ID of a code or a batch */
  async void(id: string, voidedAt: Date, manager: EntityManager): Promise<readonly VoidedCode[]> {
    const [rows] = await manager.query<[(Omit<VoidedCode, 'amount'> & { readonly amount: string })[], number]>(VOID, [
      id,
      voidedAt,
    ]);
    return rows.map((row) => ({ ...row, amount: nanos(BigInt(row.amount)) }));
  }

  /** Locked until the transaction ends: concurrent attempts wait and see the result. */
  lock(codeHash: Buffer, manager: EntityManager): Promise<RedemptionCodeEntity | null> {
    return manager.findOne(RedemptionCodeEntity, { where: { codeHash }, lock: { mode: 'pessimistic_write' } });
  }

  async markRedeemed(
    id: string,
    by: { readonly redeemedBy: string; readonly redeemedAt: Date; readonly entryId: string },
    manager: EntityManager,
  ): Promise<void> {
    await manager.update(RedemptionCodeEntity, { id }, by);
  }
}

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
   * @throws InvalidCodes
   */
  async create({ amount, count, expiresAt, note = '' }: CodeBatch): Promise<MadeCodes> {
    const createdAt = this.clock.date();
    if (amount <= 0n || amount > MAX_AMOUNT) throw InvalidCodes.amount();
    if (!Number.isInteger(count) || count < 1 || count > MAX_BATCH) throw InvalidCodes.count(MAX_BATCH);
    if (!/^[^\p{Cc}]{0,200}$/u.test(note)) throw InvalidCodes.note();
    if (expiresAt !== undefined && expiresAt <= createdAt) throw InvalidCodes.expired();
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
   * @throws CodeNotRedeemable, WalletNotFound, WalletClosed, InvalidAmount
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
