import { Global, Injectable, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { EntityManager } from 'typeorm';
import { Clock, newId } from '../shared/index.js';
import { type Actor, type AuditEntry, AuditEntryEntity, currentActor, nameOf } from './audit-entry.js';

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
