import { join } from 'node:path';
import { reasonOf } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { installedPackage, linkLibraries } from './installed-package.js';
import { copyPackage } from './package-copy.js';
import { runAs, type SystemUser } from './run-as.js';

/** PostgreSQL's programs, executable by the system user. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Must match the version of the data directory. */
  readonly major: number;
}

/**
 * The installed programs, or a copy if the system user cannot execute them.
 * @throws DatabaseUnusable when the platform has none, or cannot run them
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

/** Why the user cannot run the programs in this folder; undefined if it can. */
function failureOf(native: string, user: SystemUser): string | undefined {
  const { status, error, stderr } = runAs(user, join(native, 'bin', 'postgres'), ['--version']);
  if (status === 0) return undefined;
  return error === undefined ? stderr.trim() : reasonOf(error);
}
