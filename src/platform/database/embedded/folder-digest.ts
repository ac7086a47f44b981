import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

interface Entry {
  /** Relative to the folder. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  readonly size: number;
  readonly modifiedMs: number;
  readonly uid: number;
  readonly mode: number;
}

/** Everything below a folder, ordered by name. Links are not followed. */
export function listFolder(root: string): readonly Entry[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((path) => {
      const found = lstatSync(join(root, path));
      const kind = found.isSymbolicLink() ? 'link' : found.isDirectory() ? 'folder' : 'file';
      return { path, kind, size: found.size, modifiedMs: Math.floor(found.mtimeMs), uid: found.uid, mode: found.mode };
    });
}

/** Unchanged while names, sizes and times are unchanged. Fast, and sufficient where others cannot write. */
export function fingerprint(entries: readonly Entry[]): string {
  const lines = entries.map(({ path, kind, size, modifiedMs }) =>
    kind === 'file' ? [path, size, modifiedMs] : [path, kind],
  );
  return createHash('sha256').update(JSON.stringify(lines)).digest('hex');
}

/** Depends on names, contents and link targets. Reads everything. */
export function digest(root: string, entries: readonly Entry[]): string {
  const hash = createHash('sha256');
  for (const { path, kind } of entries) {
    const content =
      kind === 'link' ? readlinkSync(join(root, path)) : kind === 'file' ? readFileSync(join(root, path)) : '';
    hash.update(JSON.stringify([path, kind, createHash('sha256').update(content).digest('hex')]));
  }
  return hash.digest('hex');
}

/** True if everything belongs to this user and nobody else has write access. */
export const isOnlyOurs = (entries: readonly Entry[], uid: number): boolean =>
  entries.every((entry) => entry.uid === uid && (entry.kind === 'link' || (entry.mode & 0o022) === 0));
