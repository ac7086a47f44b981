import { Column, Entity, PrimaryColumn } from 'typeorm';
import { AsyncLocalStorage } from 'node:async_hooks';

/** What kind of thing was changed, in the word that pages and addresses use. */
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
] as const;
export type AuditObjectKind = (typeof AUDIT_KINDS)[number];

/** A change as it is recorded. Secrets are never part of it. */
export interface AuditEntry {
  /** What was done, as it reads behind who did it: `changed`, `credited`, `switched off`. */
  readonly action: string;
  readonly object: {
    readonly kind: AuditObjectKind;
    readonly id: string;
    /** As people know it, at this moment. */
    readonly name: string;
    /** The account that it belongs to, whose changes it is found among; absent: it is nobody's, or an account itself. */
    readonly owner?: string;
  };
  /** `tier 1 → 2`, a line for each field; none where the action says it all. */
  readonly lines?: readonly string[];
  /** What whoever did it gave as the reason. */
  readonly reason?: string;
}

/** The same with who did it and when, as it is read again. */
export interface RecordedChange extends Required<AuditEntry> {
  readonly id: string;
  readonly at: Date;
  readonly actor: { readonly kind: 'account' | 'command-line' | 'system'; readonly id: string; readonly name: string };
  /** From where it was done; empty where there is no address. */
  readonly ip: string;
}

/** Who changes something that is not their own. */
export type Actor =
  | { readonly kind: 'account'; readonly accountId: string; readonly name: string; readonly ip: string }
  | { readonly kind: 'command-line' }
  | { readonly kind: 'system' };

export const COMMAND_LINE: Actor = { kind: 'command-line' };
/** The program itself, of its own accord. */
export const SYSTEM: Actor = { kind: 'system' };

const acting = new AsyncLocalStorage<Actor>();

/**
 * Does a piece of work, all that follows from it included, in somebody's name. Who acts is known from around the work and
 * not handed through it, because services change the same things for operators and for the owners themselves.
 */
export const actingAs = <T>(actor: Actor, work: () => T): T => acting.run(actor, work);

/** In whose name this is done; undefined: in nobody's but the owner's own. */
export const currentActor = (): Actor | undefined => acting.getStore();

/** What an actor is called wherever a change is told of. */
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
