import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, reasonOf, Secret } from '../shared/index.js';
import type { Environment } from './environment.js';
import { InvalidEnvironment } from './invalid-environment.js';

const MIN_LENGTH = 32;

/**
 * SECRET_KEY, or the key generated into `DATA_DIR/secret.key` on the first run.
 * In production with an external database the key is required: a generated one would be lost with the machine, and
 * with it every stored credential.
 */
export function secretKeyFrom(environment: Environment, dataDir: string): Secret {
  if (environment.SECRET_KEY !== undefined) return new Secret(environment.SECRET_KEY);
  if (environment.DATABASE_URL !== undefined && environment.NODE_ENV === 'production')
    throw new InvalidEnvironment('SECRET_KEY (32+ characters) is required in production when DATABASE_URL is set.');
  return new Secret(readOrCreate(join(dataDir, 'secret.key'), dataDir));
}

function readOrCreate(file: string, dataDir: string): string {
  const key = contentOf(file, dataDir);
  if (key.length < MIN_LENGTH)
    throw new InvalidEnvironment(
      `${file} contains no key of at least ${MIN_LENGTH} characters. Restore the previous key, or delete the file if nothing was stored yet.`,
    );
  return key;
}

/** @throws InvalidEnvironment when DATA_DIR is not writable: the key is the first file in it */
function contentOf(file: string, dataDir: string): string {
  try {
    mkdirSync(dataDir, { recursive: true });
    if (!existsSync(file)) create(file);
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new InvalidEnvironment(
      `DATA_DIR (${dataDir}) must be a directory writable by this user: ${reasonOf(error)}.`,
    );
  }
}

/** Atomic: a key is never read half-written. Of two processes that start together, one wins. */
function create(file: string): void {
  const unfinished = `${file}.${process.pid}.tmp`;
  writeFileSync(unfinished, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}
