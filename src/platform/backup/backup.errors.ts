import { AppError } from '../shared/index.js';

/** A file that no database can be restored from: the message says which and why. */
export class UnusableBackup extends AppError {
  constructor(file: string, why: string) {
    super('invalid_request', `${file} ${why}`);
  }
}

/** The backup could not be written; nothing of it is left. */
export class BackupFailed extends AppError {
  constructor(message: string, cause?: unknown) {
    super('internal', message, {}, { cause });
  }
}
