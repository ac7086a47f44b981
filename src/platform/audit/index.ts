// Who changed what: an append-only record of everything that operators, the command line and the program itself change.
// Owns the record and who acts. Does not own what is changed: services say it in the transaction of the change.
export { type Actor, actingAs, COMMAND_LINE, currentActor, nameOf, SYSTEM } from './actor.js';
export { AUDIT_KINDS, type AuditEntry, type AuditObjectKind, type RecordedChange } from './audit-entry.js';
export { AuditLog } from './audit-log.js';
export { AuditModule } from './audit.module.js';
export { type ChangeFilter, type ChangePage, type ChangeStart, recordedChanges } from './recorded-changes.js';
