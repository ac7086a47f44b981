import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readState } from '../../src/platform/database/embedded/state-file.js';
import { processIdentity } from '../../src/platform/database/process-identity.js';

const PREFIX = 'switchboard-test-';
const MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 2 ** 30;
/** In memory where that has room: ext4, for one, takes five times as long to create a database, which every test has. */
const PARENT = isRoomy(MEMORY) ? MEMORY : tmpdir();

/** Programs must be able to run there: the package of PostgreSQL may be copied. */
function isRoomy(folder: string): boolean {
  if (!existsSync(folder) || !existsSync('/proc/mounts')) return false;
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === folder);
  const { bavail, bsize } = statfsSync(folder);
  const bytes = Math.min(bavail * bsize, process.availableMemory() / 2);
  return mount !== undefined && !mount.includes('noexec') && bytes >= ROOM_BYTES;
}

/** A DATA_DIR that the user PostgreSQL runs as can reach, also when the tests run as root. Its name says whose it is. */
export function temporaryDataDir(): string {
  const folder = mkdtempSync(join(PARENT, `${PREFIX}${process.pid}-`));
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
  // Other runs may be removing the same abandoned folder.
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
}

/** Those of our runs that were killed. */
export function removeAbandonedDataDirs(): void {
  const ours = readdirSync(PARENT)
    .filter((name) => name.startsWith(PREFIX))
    .filter((name) => lstatSync(join(PARENT, name), { throwIfNoEntry: false })?.uid === process.getuid?.());
  for (const name of ours)
    if (processIdentity(Number.parseInt(name.slice(PREFIX.length), 10)) === undefined)
      removeDataDir(join(PARENT, name));
}
