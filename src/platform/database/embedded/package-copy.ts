import { chmodSync, cpSync, lstatSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { digest, fingerprint, isOnlyOurs, listFolder } from './folder-digest.js';
import { linkLibraries, type BinaryPackage } from './installed-package.js';
import { readJsonFile } from './json-file.js';

/** What was compared, so that a start need not read sixty megabytes again. */
interface Stamp {
  /** Of every name and content, the same in the package and in the copy. */
  readonly digest: string;
  readonly packageFingerprint: string;
  readonly copyFingerprint: string;
}

/**
 * A copy of the programs in a folder of ours below `/var/tmp` that everyone may read and nobody else may write, for an
 * user that cannot reach the checkout. Compared with the package on every start: by names, sizes and times, and by
 * content when those changed; a copy that differs is replaced. Returns its native folder.
 * @throws DatabaseUnusable when somebody else has put something there
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
  // Another process may have been first; then its copy is judged, not ours.
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
  // The package was installed anew: the times changed, the contents need not have.
  if (stamp.digest !== digest(installed.native, source)) return false;
  writeStamp(folder, { ...stamp, packageFingerprint: fingerprint(source) });
  return true;
}

/** A complete copy under a name that nobody can have taken, open to readers only when it is complete. */
function makeCopy(prefix: string, installed: BinaryPackage): string {
  const folder = mkdtempSync(prefix);
  const native = join(folder, 'native');
  cpSync(installed.native, native, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  for (const { path, kind, mode } of listFolder(native))
    if (kind !== 'link') chmodSync(join(native, path), kind === 'folder' || (mode & 0o100) !== 0 ? 0o755 : 0o644);
  chmodSync(native, 0o755);
  // Only now: the package's own folders may be closed to writers, and so were those of the copy.
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

/** The links are made after installing: the package may lack those that the copy has. */
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
