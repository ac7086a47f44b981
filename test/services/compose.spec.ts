import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, matchesGlob, resolve } from 'node:path';
import { parse } from 'yaml';
import { findProgram } from '../support/debian-programs.js';

const ROOT = resolve(import.meta.dirname, '../..');
const DEPLOY = join(ROOT, 'deploy');
const REQUIRED = { SITE: 'relay.example.com', SECRET_KEY: 'secret', POSTGRES_PASSWORD: 'password' };
const dockerfile = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8');

interface Composition {
  // oxlint-disable-next-line typescript/no-explicit-any -- different for each service, and checked by docker-compose
  readonly services: Readonly<Record<string, any>>;
}

/**
 * The file as docker-compose reads it, with variables filled in. Debian's version does not know `name`, which the others
 * take. @throws Error with what it says of the file
 */
function composed(environment: Readonly<Record<string, string>>, change = (text: string): string => text): Composition {
  const text = change(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8').replace(/^name: .*$/m, ''));
  const output = execFileSync(findProgram('docker-compose'), ['--project-directory', DEPLOY, '--file', '-', 'config'], {
    encoding: 'utf8',
    cwd: DEPLOY,
    input: text,
    stdio: 'pipe',
    env: { PATH: process.env['PATH'], ...environment },
  });
  return parse(output) as Composition;
}

describe('compose.yaml', () => {
  it('is accepted by docker-compose, and starts the relay after the database', () => {
    const { services } = composed(REQUIRED);
    expect(services['relay']).toMatchObject({
      depends_on: { postgres: { condition: 'service_healthy' } },
      environment: {
        PUBLIC_URL: 'https://relay.example.com',
        DATABASE_URL: 'postgres://switchboard:password@postgres:5432/switchboard',
      },
      read_only: true,
      stop_grace_period: '70s',
    });
    expect(services['relay']).not.toHaveProperty('ports');
    expect(services['redis'].profiles).toEqual(['redis']);
  });

  it.each(Object.keys(REQUIRED))('is refused without %s', (name) => {
    expect(() => composed({ ...REQUIRED, [name]: '' })).toThrow(name);
  });

  it('is refused with a field that Compose does not have', () => {
    expect(() => composed(REQUIRED, (text) => text.replace('read_only:', 'readonly:'))).toThrow('readonly');
  });

  it('builds a target of the Dockerfile', () => {
    const { build } = composed(REQUIRED).services['relay'];
    expect(resolve(DEPLOY, build.context)).toBe(ROOT);
    expect(dockerfile).toMatch(new RegExp(`^FROM \\S+ AS ${build.target}$`, 'm'));
  });
});

describe('the Dockerfile', () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' '),
  );
  const kept = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));

  it('copies files that exist and are in its context', () => {
    expect(copied).toEqual(expect.arrayContaining(['package.json', 'views', 'deploy/switchboard']));
    for (const path of copied.filter((source) => source !== '.')) {
      expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
      expect(kept).toContain(path);
    }
  });

  it('has a context that keeps only what exists, and no data', () => {
    expect(kept.filter((path) => globSync(path, { cwd: ROOT }).length === 0)).toEqual([]);
    for (const path of ['data', 'node_modules', '.git', '.env', 'dist'])
      expect(kept.filter((pattern) => matchesGlob(path, pattern))).toEqual([]);
  });

  it('ends as a user by number, with a health check, and with Node as the first process', () => {
    expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK [\s\S]*\/readyz/m);
    expect(dockerfile).toMatch(/^CMD \["node", .*"dist\/src\/main\.js"\]$/m);
    expect(dockerfile).not.toMatch(/^ENTRYPOINT/m);
  });
});
