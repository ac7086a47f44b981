// Compiles src and migrations into dist, unless what lies there was compiled from these very sources.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inRoot, runNode } from './pinned-node.mjs';

const DIST = inRoot('dist');
const FOLDERS = ['src', 'migrations'];
const FILES = ['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package-lock.json'];
const STAMP = 'sources.sha256';
const WORKSHOP = 'dist.building-';

/**
 * Makes sure that dist is up to date. Whatever the compiler says goes to stderr.
 * Any number of builds may run at once: each compiles into a folder of its own, and a finished one is moved into place
 * whole. A running server is not disturbed: it has loaded all of its modules before it listens, but for the thread that
 * counts tokens, without which it only counts less exactly.
 * @returns {Promise<boolean>} false when the sources do not compile; dist is then as it was
 */
export async function ensureBuilt() {
  const stamp = hashOfSources();
  if (stampOf(DIST) === stamp) return true;
  removeAbandoned();
  const workshop = inRoot(`${WORKSHOP}${process.pid}`);
  try {
    console.error('Building …');
    if ((await compileInto(workshop)) !== 0) return false;
    writeFileSync(join(workshop, STAMP), stamp);
    moveIntoPlace(workshop, stamp);
    return true;
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}

/**
 * Nest's own build, with the settings of every build but another folder: beside dist and as deep, so that the paths in
 * source maps stay right when it is moved.
 */
async function compileInto(folder) {
  const settings = `${folder}.json`;
  writeFileSync(
    settings,
    JSON.stringify({
      extends: './tsconfig.build.json',
      compilerOptions: { outDir: folder, incremental: false },
    }),
  );
  try {
    return await runNode([inRoot('node_modules/@nestjs/cli/bin/nest.js'), 'build', '--path', basename(settings)], {
      stdio: ['ignore', process.stderr, process.stderr],
      cwd: inRoot(),
    });
  } finally {
    rmSync(settings, { force: true });
  }
}

/** Another build of the same sources may have been quicker; its result stays, since a server may be loading it. */
function moveIntoPlace(workshop, stamp) {
  for (let attempt = 0; stampOf(DIST) !== stamp; attempt++) {
    const old = `${workshop}-old-${attempt}`;
    try {
      if (existsSync(DIST)) renameSync(DIST, old);
      renameSync(workshop, DIST);
    } catch (error) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code) || attempt === 20) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}

/** By content: a fresh checkout has other times and the same sources. */
function hashOfSources() {
  const hash = createHash('sha256');
  const compiled = FOLDERS.flatMap((folder) =>
    readdirSync(inRoot(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => (name.endsWith('.ts') && !name.endsWith('.spec.ts')) || name.endsWith('.sql'))
      .map((name) => join(folder, name)),
  );
  for (const file of [...compiled.toSorted(), ...FILES])
    hash
      .update(`${file}\0`)
      .update(readFileSync(inRoot(file)))
      .update('\0');
  return hash.digest('hex');
}

function stampOf(folder) {
  try {
    return readFileSync(join(folder, STAMP), 'utf8');
  } catch {
    return undefined;
  }
}

/** Folders of builds that were killed. */
function removeAbandoned() {
  for (const name of readdirSync(inRoot()).filter((entry) => entry.startsWith(WORKSHOP)))
    if (!isAlive(Number.parseInt(name.slice(WORKSHOP.length), 10)))
      rmSync(inRoot(name), { recursive: true, force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.exitCode = (await ensureBuilt()) ? 0 : 1;
