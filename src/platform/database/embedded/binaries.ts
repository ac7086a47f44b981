import { join } from 'node:path';
import { reasonOf } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { installedPackage, linkLibraries } from './installed-package.js';
import { copyPackage } from './package-copy.js';
import { runAs, type SystemUser } from './run-as.js';

/** PostgreSQL's programs, runnable by the user. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** The major version, which a data directory must have been made by. */
  readonly major: number;
}

/**
 * The programs as npm installed them; where the user cannot run those, a copy that it can.
 * @throws DatabaseUnusable when this platform has none, or cannot run them
 */
export function findBinaries(user: SystemUser, log: (line: string) => void): Binaries {
  const installed = installedPackage();
  const complete = linkLibraries(installed.native);
  const native =
    complete && failureOf(installed.native, user) === undefined ? installed.native : copyPackage(installed, log);
  const failure = failureOf(native, user);
  if (failure !== undefined)
    throw new DatabaseUnusable(
      `The bundled PostgreSQL does not run on this machine (${failure}). Set DATABASE_URL to a PostgreSQL server.`,
    );
  const program = (name: string): string => join(native, 'bin', name);
  return { postgres: program('postgres'), initdb: program('initdb'), major: Number.parseInt(installed.version, 10) };
}

/** Why the user cannot run the programs in this folder; undefined when it can. */
function failureOf(native: string, user: SystemUser): string | undefined {
  const { status, error, stderr } = runAs(user, join(native, 'bin', 'postgres'), ['--version']);
  if (status === 0) return undefined;
  return error === undefined ? stderr.trim() : reasonOf(error);
}
