// Backup and restore: a consistent copy of all rows in one file, and its format. The schema comes from migrations.
export { BackupFile } from './backup-file.js';
export { backUp, type BackupSummary } from './backup.js';
export { restore } from './restore.js';
export { LEFT_OUT, markOf } from './backup-format.js';
export { hasBackup, noteBackup } from './backup-note.js';
