import { Column, Entity, PrimaryColumn } from 'typeorm';
import { nanosColumn } from '../platform/database/index.js';
import type { Nanos } from '../platform/shared/index.js';

@Entity('wallets')
export class WalletEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  @Column({ ...nanosColumn, default: 0 })
  readonly balance: Nanos;

  /** The part of the balance that running calls may still use up. */
  @Column({ ...nanosColumn, default: 0 })
  readonly held: Nanos;

  /** How many running calls hold it. */
  @Column('integer', { default: 0 })
  readonly holds: number;

  @Column({ ...nanosColumn, default: 0 })
  readonly owed: Nanos;
}
