import {
  execFileSync,
  spawnSync,
  type ExecFileSyncOptionsWithStringEncoding,
  type SpawnSyncReturns,
} from 'node:child_process';
import { DatabaseUnusable } from '../database.errors.js';

/** The user that PostgreSQL runs as; it refuses to run as root. */
export interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** True if it differs from our own user: programs are then started as this user, and folders are given to it. */
  readonly switched: boolean;
}

const CANDIDATES = ['postgres', 'nobody'];

/** A clean environment: messages in English, times in UTC, no PG* variables. */
const ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

const QUIETLY = {
  env: ENVIRONMENT,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
} satisfies ExecFileSyncOptionsWithStringEncoding;

/** Our own user; as root, `postgres` if it exists, else `nobody`. */
export function serverUser(): SystemUser {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if (uid === undefined || gid === undefined)
    throw new DatabaseUnusable(
      `The embedded database does not support ${process.platform}. Set DATABASE_URL to a PostgreSQL server.`,
    );
  if (uid !== 0) return { name: `uid ${uid}`, uid, gid, switched: false };
  for (const name of CANDIDATES) {
    const found = lookUp(name);
    if (found !== undefined) return found;
  }
  throw new DatabaseUnusable(
    'PostgreSQL does not run as root, and no unprivileged user ("postgres") was found. Run as another user, or set DATABASE_URL.',
  );
}

/** Options for starting a child process as this user. Its working directory is `/`, since ours may be inaccessible. */
export function spawnOptions(user: SystemUser): {
  uid?: number;
  gid?: number;
  cwd: string;
  env: Record<string, string>;
} {
  // Node expects signed numbers here and unsigned ones elsewhere; on macOS `nobody` is -2.
  const identity = user.switched ? { uid: user.uid | 0, gid: user.gid | 0 } : {};
  return { ...identity, cwd: '/', env: ENVIRONMENT };
}

/** Runs a program to completion as this user. */
export function runAs(
  user: SystemUser,
  program: string,
  args: readonly string[],
  input = '',
): SpawnSyncReturns<string> {
  return spawnSync(program, args, { ...spawnOptions(user), encoding: 'utf8', input });
}

/** Whether the user can traverse the folder and all its parents. */
export function canEnter(user: SystemUser, folder: string): boolean {
  return runAs(user, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder]).status === 0;
}

function lookUp(name: string): SystemUser | undefined {
  try {
    const id = (option: string): number => Number(execFileSync('id', [option, name], QUIETLY)) >>> 0;
    return { name, uid: id('-u'), gid: id('-g'), switched: true };
  } catch {
    return undefined;
  }
}
