import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from './actor.js';

@Entity('audit_entries')
export class AuditEntryEntity {
  /** `aud_…`, in the order of time. */
  @PrimaryColumn('text')
  readonly id: string;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;

  @Column('text', { name: 'actor_kind' })
  readonly actorKind: Actor['kind'];

  @Column('text', { name: 'actor_id' })
  readonly actorId: string;

  @Column('text', { name: 'actor_name' })
  readonly actorName: string;

  @Column('text')
  readonly ip: string;

  @Column('text')
  readonly action: string;

  @Column('text', { name: 'object_kind' })
  readonly objectKind: string;

  @Column('text', { name: 'object_id' })
  readonly objectId: string;

  @Column('text', { name: 'object_name' })
  readonly objectName: string;

  @Column('text', { name: 'object_owner', nullable: true })
  readonly objectOwner: string | null;

  @Column('text', { array: true })
  readonly lines: readonly string[];

  @Column('text')
  readonly reason: string;
}
