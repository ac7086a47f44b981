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
  /** True when it is not the user that we run as: programs must be started under its name, and folders given to it. */
  readonly switched: boolean;
}

const CANDIDATES = ['postgres', 'nobody'];

/** Nothing of our own environment reaches the server: messages in English, times in UTC, no PG* variables. */
const ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

const QUIETLY = {
  env: ENVIRONMENT,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
} satisfies ExecFileSyncOptionsWithStringEncoding;

/** Our own user; as root, `postgres` if there is one, else `nobody`. */
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

/** How a child process is started under the user's name. Its folder is `/`: ours may be closed to it. */
export function spawnOptions(user: SystemUser): {
  uid?: number;
  gid?: number;
  cwd: string;
  env: Record<string, string>;
} {
  // Node takes signed numbers here and unsigned ones everywhere else; macOS gives `nobody` the number -2.
  const identity = user.switched ? { uid: user.uid | 0, gid: user.gid | 0 } : {};
  return { ...identity, cwd: '/', env: ENVIRONMENT };
}

/** Runs a program to its end under the user's name. */
export function runAs(
  user: SystemUser,
  program: string,
  args: readonly string[],
  input = '',
): SpawnSyncReturns<string> {
  return spawnSync(program, args, { ...spawnOptions(user), encoding: 'utf8', input });
}

/** Whether every folder on the way to this one, and itself, lets the user pass. */
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
