import { Global, Injectable, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, Entity, type EntityManager, PrimaryColumn } from 'typeorm';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Clock, newId } from '../shared/index.js';

/** Kinds of changed objects, as pages and URLs name them. */
export const AUDIT_KINDS = [
  'account',
  'key',
  'channel',
  'model',
  'group',
  'limits',
  'code',
  'payment',
  'invitation',
  'setting',
  'calls',
  'organization',
  'member',
  'team',
] as const;
export type AuditObjectKind = (typeof AUDIT_KINDS)[number];

/** A recorded change. Never contains secrets. */
export interface AuditEntry {
  /** Follows the actor's name in a sentence: `changed`, `credited`, `disabled`. */
  readonly action: string;
  readonly object: {
    readonly kind: AuditObjectKind;
    readonly id: string;
    /** Display name at the time of the change. */
    readonly name: string;
    /** The account that owns the object; absent for accounts themselves and for objects without an owner. */
    readonly owner?: string;
  };
  /** One line per changed field, such as `tier 1 → 2`; empty if `action` says it all. */
  readonly lines?: readonly string[];
  /** Reason given by the actor. */
  readonly reason?: string;
}

/** An entry with actor and time, as stored. */
export interface RecordedChange extends Required<AuditEntry> {
  readonly id: string;
  readonly at: Date;
  readonly actor: { readonly kind: 'account' | 'command-line' | 'system'; readonly id: string; readonly name: string };
  /** Empty if unknown. */
  readonly ip: string;
}

/** Someone who changes what belongs to another account. */
export type Actor =
  | { readonly kind: 'account'; readonly accountId: string; readonly name: string; readonly ip: string }
  | { readonly kind: 'command-line' }
  | { readonly kind: 'system' };

export const COMMAND_LINE: Actor = { kind: 'command-line' };
/** The program itself. */
export const SYSTEM: Actor = { kind: 'system' };

const acting = new AsyncLocalStorage<Actor>();

/**
 * Runs `work`, including everything it awaits, on behalf of `actor`. The actor is ambient because owners and
 * administrators use the same services.
 */
export const actingAs = <T>(actor: Actor, work: () => T): T => acting.run(actor, work);

/** Undefined when owners act for themselves. */
export const currentActor = (): Actor | undefined => acting.getStore();

/** Display name of an actor. */
export function nameOf(actor: Actor): string {
  switch (actor.kind) {
    case 'account':
      return actor.name;
    case 'command-line':
      return 'Command line';
    case 'system':
      return 'System';
    default:
      return actor satisfies never;
  }
}

@Entity('audit_entries')
export class AuditEntryEntity {
  /** `aud_…`, sortable by time. */
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

type ActorColumns = Pick<AuditEntryEntity, 'actorKind' | 'actorId' | 'actorName' | 'ip'>;

/** Records changes together with their actor. */
@Injectable()
export class AuditLog {
  /** IDs sort by milliseconds only, and entries are read in ID order. */
  private lastIdMs = 0;

  constructor(private readonly clock: Clock) {}

  /**
   * Records a change in its own transaction. Does nothing without a current actor (`actingAs`): owners' changes to
   * their own objects are not audited.
   */
  async record(entry: AuditEntry, manager: EntityManager): Promise<void> {
    const actor = currentActor();
    if (actor === undefined) return;
    const createdAt = this.clock.date();
    this.lastIdMs = Math.max(createdAt.getTime(), this.lastIdMs + 1);
    await manager.insert(AuditEntryEntity, {
      id: newId('aud', this.lastIdMs),
      createdAt,
      ...columnsOf(actor),
      action: entry.action,
      objectKind: entry.object.kind,
      objectId: entry.object.id,
      objectName: entry.object.name,
      objectOwner: entry.object.owner ?? null,
      lines: [...(entry.lines ?? [])],
      reason: entry.reason ?? '',
    });
  }
}

function columnsOf(actor: Actor): ActorColumns {
  const actorName = nameOf(actor);
  return actor.kind === 'account'
    ? { actorKind: actor.kind, actorId: actor.accountId, actorName, ip: actor.ip }
    : { actorKind: actor.kind, actorId: '', actorName, ip: '' };
}

/** Global because every administrative change is recorded. */
@Global()
@Module({ imports: [TypeOrmModule.forFeature([AuditEntryEntity])], providers: [AuditLog], exports: [AuditLog] })
export class AuditModule {}
