import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const fileIn = (dataDir: string): string => join(dataDir, 'relay.pid');

/** `DATA_DIR/relay.pid` names the listening process, for scripts that have to find it. */
export function writePidFile(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(fileIn(dataDir), `${process.pid}\n`);
}

/** Removes the file unless another process has taken it over meanwhile. */
export function removePidFile(dataDir: string): void {
  try {
    if (readFileSync(fileIn(dataDir), 'utf8').trim() === String(process.pid)) rmSync(fileIn(dataDir));
  } catch {
    // Already removed, perhaps with the folder.
  }
}
