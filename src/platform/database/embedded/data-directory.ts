import { createHash } from 'node:crypto';
import { existsSync, lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { DatabaseUnusable } from '../database.errors.js';
import { canEnter, type SystemUser } from './run-as.js';

const OUTSIDE = '/var/tmp';

/**
 * The data directory: an existing one; else `DATA_DIR/postgres`, or a folder below `/var/tmp` if the server's user
 * cannot reach DATA_DIR (as below a home directory of mode 0700).
 * @param dataDir its real path
 * @param recorded the location used by an earlier run, so that an existing database is never replaced by an empty one
 * @throws DatabaseUnusable when it is out of reach or owned by another user
 */
export function findDataDirectory(dataDir: string, recorded: string | undefined, user: SystemUser): string {
  const inside = join(dataDir, 'postgres');
  const outside = outsideDirectory(dataDir);
  // Inside first: in a copy of DATA_DIR, the recorded location is the original's.
  const known = [inside, recorded, outside].filter((directory) => directory !== undefined);
  const directory = known.find(hasCluster) ?? (canEnter(user, dataDir) ? inside : outside);
  checkOwner(directory, user);
  if (hasCluster(directory) && !canEnter(user, directory))
    throw new DatabaseUnusable(
      `${user.name} can no longer access the embedded database in ${directory}. Restore the permissions of its parent directories (chmod o+x).`,
    );
  return directory;
}

/** Contains a hash of DATA_DIR, so that installations do not collide. */
function outsideDirectory(dataDir: string): string {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(OUTSIDE, `switchboard-${process.getuid?.() ?? 0}-${hash}`);
}

export const isOutsideDataDir = (directory: string): boolean => directory.startsWith(`${OUTSIDE}/`);

/** PostgreSQL writes this file, and our data directory is only moved into place when complete. */
export const hasCluster = (directory: string): boolean => existsSync(join(directory, 'PG_VERSION'));

/** Another user may have created this name first, above all in `/var/tmp`. */
function checkOwner(directory: string, user: SystemUser): void {
  const found = lstatOf(directory);
  if (found === undefined) return;
  const refuse = (reason: string): never => {
    throw new DatabaseUnusable(
      `The embedded database cannot use ${directory}: ${reason}. Move it or fix it, then start again.`,
    );
  };
  if (found.isSymbolicLink()) refuse('it is a symbolic link');
  if (!found.isDirectory()) refuse('it is not a directory');
  if (found.uid !== user.uid) refuse(`it is owned by uid ${found.uid}, not ${user.name}`);
  if ((found.mode & 0o077) !== 0) refuse('its mode must be 0700');
}

function lstatOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
