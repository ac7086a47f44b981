import { randomBytes } from 'node:crypto';
import {
  chownSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SpawnSyncReturns } from 'node:child_process';
import { reasonOf } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import type { Binaries } from './binaries.js';
import { runAs, type SystemUser } from './run-as.js';

/** The owner of everything in the embedded server, and the name of its database. */
export const SUPERUSER = 'postgres';

export const newPassword = (): string => randomBytes(24).toString('base64url');

/**
 * Creates a data directory. It is built beside its place and moved when complete, so that an interrupted start leaves
 * nothing that looks like a database.
 */
export function createCluster(place: string, password: string, binaries: Binaries, user: SystemUser): void {
  removeUnfinished(place, user);
  const workshop = mkdtempSync(unfinishedPrefix(place));
  try {
    const passwordFile = join(workshop, 'password');
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (user.switched) for (const path of [passwordFile, workshop]) chownSync(path, user.uid, user.gid);
    const data = join(workshop, 'data');
    const made = runAs(user, binaries.initdb, ['-D', data, '--pwfile', passwordFile, ...INITDB_OPTIONS]);
    if (made.status !== 0)
      throw new DatabaseUnusable(`Cannot create the embedded database in ${place}: ${complaint(made)}.`);
    renameSync(data, place);
  } finally {
    // Removes the temporary folder and leftovers of earlier starts.
    removeUnfinished(place, user);
  }
}

/** Password authentication; UTF-8, ordered by code point, which is the same on every machine. */
const INITDB_OPTIONS = [
  `--username=${SUPERUSER}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/** @throws DatabaseUnusable when the data directory belongs to another major version */
export function checkVersion(place: string, binaries: Binaries): void {
  const made = readFileSync(join(place, 'PG_VERSION'), 'utf8').trim();
  if (made !== String(binaries.major))
    throw new DatabaseUnusable(
      `The embedded database in ${place} was created by PostgreSQL ${made}; this version uses ${binaries.major}. Make a backup with the previous version of Switchboard and restore it into a new DATA_DIR.`,
    );
}

/** Sets a new superuser password on a stopped server whose password file was lost. */
export function resetPassword(place: string, password: string, binaries: Binaries, user: SystemUser): void {
  const sql = `ALTER ROLE ${SUPERUSER} PASSWORD '${password}'\n`;
  const done = runAs(user, binaries.postgres, ['--single', '-D', place, 'postgres'], sql);
  if (done.status !== 0)
    throw new DatabaseUnusable(
      `postgres.json is missing and the password of the embedded database in ${place} could not be reset: ${complaint(done)}.`,
    );
}

const unfinishedPrefix = (place: string): string => `${place}-new-`;

function removeUnfinished(place: string, user: SystemUser): void {
  const prefix = basename(unfinishedPrefix(place));
  const mine = [process.getuid?.(), user.uid];
  for (const name of readdirSync(dirname(place)).filter((entry) => entry.startsWith(prefix))) {
    const path = join(dirname(place), name);
    if (mine.includes(lstatSync(path, { throwIfNoEntry: false })?.uid))
      rmSync(path, { recursive: true, force: true, maxRetries: 10 }); // an orphaned initdb may still be filling it
  }
}

const complaint = ({ error, stderr, status }: SpawnSyncReturns<string>): string =>
  error === undefined ? stderr.trim().split('\n').at(-1) || `exit ${status}` : reasonOf(error);
