import { chmodSync, cpSync, lstatSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { digest, fingerprint, isOnlyOurs, listFolder } from './folder-digest.js';
import { linkLibraries, type BinaryPackage } from './installed-package.js';
import { readJsonFile } from './json-file.js';

/** What was compared, so that a start need not read 60 MB again. */
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
  log(`Copying PostgreSQL ${installed.version} to ${folder}, which its user can access.`);
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
      `${folder} is not a directory that only this user can write. Another user created it. Delete it and start again.`,
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
