import { AppError } from '../shared/index.js';

/** A file that cannot be restored. The message names the file and the reason. */
export class UnusableBackup extends AppError {
  constructor(file: string, why: string) {
    super('invalid_request', `${file} ${why}`);
  }
}

/** The backup could not be written; no partial file is left. */
export class BackupFailed extends AppError {
  constructor(message: string, cause?: unknown) {
    super('internal', message, {}, { cause });
  }
}
