import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('sessions')
export class SessionEntity {
  @PrimaryColumn('text')
  readonly id: string;

  /** SHA-256 of what the cookie says. */
  @Column('bytea', { name: 'token_hash' })
  readonly tokenHash: Buffer;

  @Column('text', { name: 'account_id' })
  readonly accountId: string;

  @Column('text')
  readonly ip: string;

  @Column('text', { name: 'user_agent' })
  readonly userAgent: string;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;

  @Column('timestamptz', { name: 'last_seen_at', default: () => 'now()' })
  readonly lastSeenAt: Date;

  /** When a password was last given in it. */
  @Column('timestamptz', { name: 'confirmed_at', default: () => 'now()' })
  readonly confirmedAt: Date;

  @Column('timestamptz', { name: 'expires_at' })
  readonly expiresAt: Date;
}
