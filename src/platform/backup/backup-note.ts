import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// Backups are files anywhere, of which the database knows nothing. A note in DATA_DIR says that one was made.
const NOTE = 'last-backup';

/** Notes the time of a backup. It exists either way, so that errors are ignored. */
export async function noteBackup(dataDir: string, now: Date): Promise<void> {
  await writeFile(join(dataDir, NOTE), `${now.toISOString()}\n`).catch(() => undefined);
}

/** Whether a backup was made with this DATA_DIR. */
export const hasBackup = (dataDir: string): boolean => existsSync(join(dataDir, NOTE));
