// The audit log: an append-only record of changes by administrators, the command line and the program, written in the
// transaction of each change.
export { type Actor, actingAs, COMMAND_LINE, currentActor, nameOf, SYSTEM } from './actor.js';
export { AUDIT_KINDS, type AuditEntry, type AuditObjectKind, type RecordedChange } from './audit-entry.js';
export { AuditLog } from './audit-log.js';
export { AuditModule } from './audit.module.js';
export { type ChangeFilter, type ChangePage, type ChangeStart, recordedChanges } from './recorded-changes.js';
