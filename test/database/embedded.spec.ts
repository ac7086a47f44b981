import pg from 'pg';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readPostmaster } from '../../src/platform/database/embedded/server-process.js';
import { readState, type ServerState } from '../../src/platform/database/embedded/state-file.js';
import { startEmbedded, type EmbeddedServer } from '../../src/platform/database/index.js';
import { eventually } from '../support/eventually.js';
import { isAlive } from '../support/processes.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';

const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? it : it.skip;

describe('The embedded database', () => {
  let dataDir: string;
  const used: EmbeddedServer[] = [];
  const children: ChildProcessWithoutNullStreams[] = [];
  const lines: string[] = [];

  const start = async (): Promise<EmbeddedServer> => {
    const server = await startEmbedded({ dataDir, log: (line) => void lines.push(line) });
    used.push(server);
    return server;
  };
  const stateFile = (): string => join(dataDir, 'postgres.json');
  const state = (): ServerState => {
    const found = readState(dataDir);
    if (found === undefined) throw new Error('There is no postgres.json.');
    return found;
  };
  const serverPid = (): number => state().pid ?? Number.NaN;
  const kill = async (pid: number): Promise<void> => {
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(isAlive(pid)).toBe(false));
  };
  const query = async (url: string, sql: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const spawnProcess = (): { child: ChildProcessWithoutNullStreams } => {
    const program = fileURLToPath(new URL('../support/embedded-user.mjs', import.meta.url));
    const child = spawn(process.execPath, [program, dataDir], { stdio: 'pipe' });
    children.push(child);
    return { child };
  };
  const startProcess = async (): Promise<{ child: ChildProcessWithoutNullStreams; url: string }> => {
    const { child } = spawnProcess();
    for await (const url of createInterface(child.stdout)) return { child, url };
    throw new Error('The process ended without printing an address.');
  };
  const unfinishedIn = (dir: string): string[] => readdirSync(dir).filter((name) => name.startsWith('postgres-new-'));
  const leave = async (child: ChildProcessWithoutNullStreams): Promise<void> => {
    const gone = once(child, 'exit');
    child.stdin.end();
    await gone;
  };

  beforeAll(() => {
    dataDir = temporaryDataDir();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const server of used.splice(0)) await server.release();
    lines.length = 0;
  });
  afterAll(() => removeDataDir(dataDir));

  it('is made on the first start, and stopped when the only process that uses it lets go', async () => {
    const server = await start();
    const { place, port, password, pid } = state();
    expect(server.url).toBe(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`);
    expect(place).toBe(join(dataDir, 'postgres'));
    expect(statSync(place).mode & 0o777).toBe(0o700);
    expect(statSync(stateFile()).mode & 0o777).toBe(0o600);
    expect(await query(server.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    expect(await query(server.url, 'SHOW timezone')).toEqual([{ TimeZone: 'UTC' }]);
    await server.release();
    expect(isAlive(Number(pid))).toBe(false);
    expect(state().pid).toBeNull();
  });

  it('rejects connections without the password', async () => {
    const { url } = await start();
    const wrong = new URL(url);
    wrong.password = 'guessed';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
    wrong.password = '';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow(/password/);
  });

  it('keeps its port, its password and its contents over a restart', async () => {
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.release();
    const second = await start();
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('is shared by processes that start while it runs, and stopped by the last one', async () => {
    const first = await start();
    const pid = serverPid();
    const { child, url } = await startProcess();
    expect(url).toBe(first.url);
    expect(serverPid()).toBe(pid);
    await first.release();
    expect(isAlive(pid)).toBe(true);
    await leave(child);
    expect(isAlive(pid)).toBe(false);
  });

  it('stops once, and only when both are gone, when two let go at the same time', async () => {
    const [first, second] = [await start(), await start()];
    const pid = serverPid();
    await Promise.all([first.release(), second.release()]);
    expect(isAlive(pid)).toBe(false);
  });

  it('outlives a process that is killed, and is adopted by the next', async () => {
    const { child, url } = await startProcess();
    const pid = serverPid();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isAlive(pid)).toBe(true);
    const next = await start();
    expect(next.url).toBe(url);
    expect(serverPid()).toBe(pid);
    await next.release();
    expect(isAlive(pid)).toBe(false);
  });

  it('recovers when it was killed together with the process that used it', async () => {
    const { child, url } = await startProcess();
    await query(url, 'CREATE TABLE survives AS SELECT generate_series(1, 1000) AS n');
    const pid = serverPid();
    child.kill('SIGKILL');
    await kill(pid);
    const next = await start();
    expect(serverPid()).not.toBe(pid);
    expect(await query(next.url, 'SELECT count(*) FROM survives')).toEqual([{ count: '1000' }]);
  });

  it('is started again, on the same port, when it is killed under a process that uses it', async () => {
    const { url } = await start();
    const pid = serverPid();
    await kill(pid);
    await eventually(async () => expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]), 20_000);
    await eventually(() => expect(serverPid()).not.toBe(pid));
    expect(lines).toContain('The embedded database exited; restarting it.');
  });

  it('is started again when it was asked to stop while connections remain', async () => {
    const { url } = await start();
    const pid = serverPid();
    process.kill(pid, 'SIGTERM');
    await eventually(() => expect(isAlive(pid)).toBe(false), 20_000);
    await eventually(async () => expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]), 20_000);
  });

  it('is restarted by a process that finds it waiting for its last connection', async () => {
    const { child, url } = await startProcess();
    const pid = serverPid();
    child.kill('SIGSTOP');
    process.kill(pid, 'SIGTERM');
    await eventually(() => expect(readPostmaster(state().place)?.status).toBe('stopping'));
    const next = await start();
    expect(next.url).toBe(url);
    expect(serverPid()).not.toBe(pid);
  });

  it('is adopted while it recovers from the death of one of its own processes', async () => {
    const { url } = await startProcess();
    const pid = serverPid();
    const [backend] = await query(url, "SELECT pid FROM pg_stat_activity WHERE application_name LIKE '%keeper'");
    process.kill(Number(backend?.['pid']), 'SIGKILL');
    const next = await start();
    expect(next.url).toBe(url);
    expect(serverPid()).toBe(pid);
    expect(await query(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('is started by another process while the one that started it sleeps and its dead server is a zombie', async () => {
    const { child, url } = await startProcess();
    const pid = serverPid();
    child.kill('SIGSTOP');
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(isAlive(pid)).toBe(false));
    expect(process.kill(pid, 0)).toBe(true);
    const next = await start();
    expect(next.url).toBe(url);
    expect(await query(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const successor = serverPid();
    expect(successor).not.toBe(pid);
    // The sleeper wakes up, finds its server gone and another in its place, and counts among its users again.
    child.kill('SIGCONT');
    await eventually(async () => {
      const users = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%keeper'";
      expect(await query(url, users)).toEqual([{ count: '2' }]);
    }, 20_000);
    await next.release();
    expect(isAlive(successor)).toBe(true);
    await leave(child);
    expect(isAlive(successor)).toBe(false);
  });

  it.each([
    [
      'while its folder is being filled',
      (dir: string) => unfinishedIn(dir).some((name) => existsSync(join(dir, name, 'data/global'))),
    ],
    ['before anybody was told its password', (dir: string) => existsSync(join(dir, 'postgres/postmaster.pid'))],
  ])('needs nobody to set it right when its very first start was killed %s', async (_, reached) => {
    const outer = dataDir;
    dataDir = temporaryDataDir();
    try {
      const { child } = spawnProcess();
      await eventually(() => expect(reached(dataDir)).toBe(true), 20_000);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const server = await start();
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      expect(unfinishedIn(dataDir)).toEqual([]);
      await server.release();
    } finally {
      removeDataDir(dataDir);
      dataDir = outer;
    }
  });

  it('runs once when several processes start at the same time', async () => {
    const started = await Promise.all([startProcess(), startProcess(), startProcess()]);
    expect(new Set(started.map(({ url }) => url)).size).toBe(1);
    const pid = serverPid();
    await Promise.all(started.map(({ child }) => leave(child)));
    expect(isAlive(pid)).toBe(false);
  });

  it('moves to another port when its own is taken', async () => {
    await (await start()).release();
    const { port } = state();
    const otherUser = createServer().listen(port, '127.0.0.1');
    await once(otherUser, 'listening');
    try {
      const server = await start();
      expect(state().port).not.toBe(port);
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      otherUser.close();
    }
  });

  it('starts despite a postmaster.pid whose PID belongs to another process', async () => {
    await kill(await leftRunning());
    const file = join(state().place, 'postmaster.pid');
    const bystander = spawn('sleep', ['60'], isRoot ? { uid: statSync(file).uid } : {});
    try {
      const [, ...rest] = readFileSync(file, 'utf8').split('\n');
      writeFileSync(file, [bystander.pid, ...rest].join('\n'));
      const server = await start();
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      bystander.kill();
    }
  });

  it('starts over a lock that a dead process disconnected', async () => {
    writeFileSync(join(dataDir, 'postgres.lock'), JSON.stringify({ pid: process.pid, identity: 'an earlier process' }));
    await expect(start()).resolves.toBeDefined();
  });

  it('gives itself a new password when the file with the old one is gone', async () => {
    const before = await start();
    await before.release();
    const { password } = state();
    rmSync(stateFile());
    const server = await start();
    expect(state().password).not.toBe(password);
    expect(await query(server.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('says what to do when it was made by another version of PostgreSQL', async () => {
    const file = join(state().place, 'PG_VERSION');
    const version = readFileSync(file, 'utf8');
    writeFileSync(file, '15\n');
    await expect(start()).rejects.toThrow(/created by PostgreSQL 15; this version uses 18. Make a backup/);
    writeFileSync(file, version);
  });

  it('is not replaced by an empty one when its folder is gone', async () => {
    const { place } = state();
    renameSync(place, `${place}.away`);
    await expect(start()).rejects.toThrow(/is missing. Restore it, or delete postgres.json/);
    renameSync(`${place}.away`, place);
  });

  it('does not follow a symbolic link in its place', async () => {
    const { place } = state();
    renameSync(place, `${place}.away`);
    symlinkSync(`${place}.away`, place);
    await expect(start()).rejects.toThrow('it is a symbolic link');
    rmSync(place);
    renameSync(`${place}.away`, place);
  });

  asRoot('does not use a folder that belongs to somebody else', async () => {
    const { place } = state();
    const { uid, gid } = statSync(place);
    chownSync(place, 12_345, 12_345);
    await expect(start()).rejects.toThrow('it is owned by uid 12345');
    chownSync(place, uid, gid);
  });

  asRoot('lies below /var/tmp when the user that runs it cannot reach DATA_DIR', async () => {
    const reachable = dataDir;
    dataDir = mkdtempSync(join(tmpdir(), 'switchboard-closed-'));
    try {
      const server = await start();
      const { place } = state();
      expect(place).toMatch(/^\/var\/tmp\/switchboard-0-[0-9a-f]{16}$/);
      expect(statSync(place).mode & 0o777).toBe(0o700);
      await server.release();
      chownSync(place, 12_345, 12_345);
      await expect(start()).rejects.toThrow('it is owned by uid 12345');
      rmSync(place, { recursive: true });
    } finally {
      rmSync(dataDir, { recursive: true });
      dataDir = reachable;
    }
  });

  async function leftRunning(): Promise<number> {
    const { child } = await startProcess();
    child.kill('SIGKILL');
    await once(child, 'exit');
    return serverPid();
  }
});
