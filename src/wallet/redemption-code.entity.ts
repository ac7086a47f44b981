import { Column, Entity, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../platform/database/index.js';
import type { Nanos } from '../platform/shared/index.js';

/** A code that is worth money once, unless it is voided before. It is redeemed when it has an entry. */
@Entity('redemption_codes')
export class RedemptionCodeEntity {
  @PrimaryColumn('text')
  readonly id: string;

  /** SHA-256 of the code. Not selected unless asked for. */
  @Column('bytea', { name: 'code_hash', select: false })
  readonly codeHash: Buffer;

  @Column(nanosColumn)
  readonly amount: Nanos;

  /** The operator's words for what it was made for. */
  @Column('text', { default: '' })
  readonly note: string;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  readonly expiresAt: Date | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;

  /** Of all that were made together; null: made before this was noted. */
  @Column('text', { name: 'batch_id', nullable: true })
  readonly batchId: string | null;

  /** Worth nothing since; null: it is not voided. */
  @Column('timestamptz', { name: 'voided_at', nullable: true })
  readonly voidedAt: Date | null;

  @Column('timestamptz', { name: 'redeemed_at', nullable: true })
  readonly redeemedAt: Date | null;

  @Column('text', { name: 'redeemed_by', nullable: true })
  readonly redeemedBy: string | null;

  /** What put its worth into a wallet. */
  @Column('text', { name: 'entry_id', nullable: true })
  readonly entryId: string | null;
}
