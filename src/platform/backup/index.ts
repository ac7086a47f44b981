// Everything that a database holds, as one file: written from a running service, and put into an empty database. Owns the
// file and its format. Does not own the schema, which the migrations make, nor what any table means.
export { BackupFile } from './backup-file.js';
export { backUp, type BackupSummary } from './backup.js';
export { restore } from './restore.js';
export { markOf } from './secret-key-mark.js';
export { LEFT_OUT } from './tables.js';
