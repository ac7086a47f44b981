import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readState } from '../../src/database/embedded/state-file.js';
import { processIdentity } from '../../src/database/process-identity.js';

const PREFIX = 'switchboard-test-';

/** A DATA_DIR that the user PostgreSQL runs as can reach, also when the tests run as root. Its name says whose it is. */
export function temporaryDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * Stops the server of a temporary DATA_DIR, whoever still uses it, and removes both. Without a promise, since it must be
 * done before a process ends by a signal.
 */
export function removeDataDir(dataDir: string): void {
  const pid = readState(dataDir)?.pid ?? 0;
  if (processIdentity(pid) !== undefined) process.kill(pid, 'SIGINT');
  for (let waitedMs = 0; processIdentity(pid) !== undefined && waitedMs < 10_000; waitedMs += 20)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  rmSync(dataDir, { recursive: true, force: true });
}

/** Those of our runs that were killed. */
export function removeAbandonedDataDirs(): void {
  const ours = readdirSync(tmpdir())
    .filter((name) => name.startsWith(PREFIX))
    .filter((name) => lstatSync(join(tmpdir(), name), { throwIfNoEntry: false })?.uid === process.getuid?.());
  for (const name of ours)
    if (processIdentity(Number.parseInt(name.slice(PREFIX.length), 10)) === undefined)
      removeDataDir(join(tmpdir(), name));
}
