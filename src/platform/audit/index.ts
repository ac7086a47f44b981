// The audit log: an append-only record of changes by administrators, the command line and the program, written in the
// transaction of each change.
export {
  actingAs,
  type Actor,
  AUDIT_KINDS,
  type AuditEntry,
  AuditLog,
  AuditModule,
  type AuditObjectKind,
  COMMAND_LINE,
  currentActor,
  nameOf,
  type RecordedChange,
  SYSTEM,
} from './audit-entry.js';
export { type ChangeFilter, type ChangePage, type ChangeStart, recordedChanges } from './recorded-changes.js';
