import { jest } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ADVISORY_LOCKS } from '../../src/platform/database/index.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { isAlive, untilGone } from '../support/processes.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  type ProtocolEndpoint,
  eventsAround,
  eventsIn,
  gate,
  type JsonObject,
  type Script,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';
import { readText } from '../support/stream-text.js';

/** Longer than any test. */
const LONG_MS = '600000';
/** What ends a stream that is whole, in each protocol. */
const WHOLE = /message_stop|response\.completed|data: \[DONE\]/;

/** A process holds this lock from when it listens. */
const LISTENING = `
  SELECT l.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
   WHERE l.locktype = 'advisory' AND l.objid = $1::bigint::oid AND l.granted AND a.application_name = ANY ($2)`;

jest.setTimeout(3 * TIMEOUT_MS);

interface OpenStream {
  readonly id: string;
  readonly text: Promise<string>;
}

/** The service shares its database with an application in this process, which makes callers and reads rows. */
describe('a service with two workers', () => {
  let relay: RelayApp;
  let service: Service;
  let caller: TestCaller;
  let sql: pg.Client;
  beforeAll(async () => {
    execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.mjs')], { stdio: 'ignore' });
    relay = await RelayApp.start();
    sql = new pg.Client({ connectionString: relay.databaseUrl });
    await sql.connect();
  });
  afterAll(async () => {
    await sql.end();
    await relay.close();
  });
  beforeEach(async () => (caller = await relay.caller()));
  afterEach(async () => {
    relay.upstream.reset();
    await service.stop('SIGKILL');
    await service.remove();
  });

  async function start(environment: Record<string, string> = {}): Promise<void> {
    service = Service.launch(undefined, {
      DATABASE_URL: relay.databaseUrl,
      SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
      DEMO: 'off',
      SHUTDOWN_GRACE_MS: LONG_MS,
      WORKERS: '2',
      ...environment,
    });
    await service.untilPrinted(/Switchboard is at/);
    await untilServing(2);
  }

  /** So many workers listen. */
  const untilServing = (count: number): Promise<void> =>
    eventually(async () => {
      const names = service.workerPids.map((pid) => `switchboard ${pid} listen`);
      expect((await sql.query(LISTENING, [ADVISORY_LOCKS.serverRuns, names])).rowCount).toBe(count);
    }, TIMEOUT_MS);

  const exited = async (): Promise<number | null> =>
    eventually(() => {
      if (service.wrapper.exitCode === null) throw new Error(`Still running:\n${service.output}`);
      return service.wrapper.exitCode;
    }, TIMEOUT_MS);

  function post(protocol: ProtocolEndpoint, overrides: JsonObject = {}): Promise<Response> {
    return fetch(`${service.address}${PATHS[protocol]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify(aRequest(protocol, overrides)),
    });
  }

  /** Responses with the first half of a stream, and with the second when the gate opens. */
  const inHalves =
    (until: Promise<void>): Script =>
    ({ protocol = 'messages' }) => {
      const { until: first, behind } = eventsAround(eventsIn(protocol, { text: ['Hello ', 'there'] }), 'Hello ');
      return [streamHead(), sse(first), waitFor(until), sse(behind)];
    };

  /** Resolves when it has begun to answer. */
  async function stream(protocol: ProtocolEndpoint): Promise<OpenStream> {
    const response = await post(protocol, { stream: true });
    expect(response.status).toBe(200);
    const begun = gate();
    const text = readText(response, (soFar) => {
      if (soFar.includes('Hello ')) begun.open();
    });
    text.catch(() => undefined);
    await begun;
    return { id: response.headers.get('x-request-id') ?? '', text };
  }

  /** Six streams; more than one connection each, so that both workers have some. */
  async function streamsOnBoth(): Promise<OpenStream[]> {
    const streams = await Promise.all([...PROTOCOLS, ...PROTOCOLS].map((protocol) => stream(protocol)));
    expect(new Set((await servers()).values()).size).toBe(2);
    return streams;
  }

  /** By the id of each open call: who answers it. */
  async function servers(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await sql.query<{ id: string; pid: number }>(
      'SELECT o.id, p.pid FROM open_calls o JOIN processes p ON p.id = o.process_id WHERE o.account_id = $1',
      [caller.accountId],
    );
    return new Map(rows.map(({ id, pid }) => [id, pid]));
  }

  async function expectSettled(streams: readonly OpenStream[], status: string): Promise<void> {
    const rows = await eventually(async () => {
      const calls = await relay.calls(caller);
      expect(calls).toHaveLength(streams.length);
      return calls;
    }, TIMEOUT_MS);
    expect(rows.map((row) => row.status)).toEqual(streams.map(() => status));
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  }

  it('R8: lets streams end that run on both workers, refuses new calls, and ends with 0', async () => {
    await start();
    const { workerPids, relayPid, serverPid } = service;
    expect([relayPid, new Set([relayPid, ...workerPids]).size]).toEqual([serverPid, 3]);
    const finish = gate();
    relay.upstream.script(inHalves(finish));
    const streams = await streamsOnBoth();
    // As a terminal does it: everybody is told, and the wrapper tells the primary once more.
    for (const pid of [relayPid, ...workerPids]) process.kill(pid, 'SIGINT');
    service.wrapper.kill('SIGINT');
    await eventually(async () => expect((await fetch(`${service.address}/readyz`)).status).toBe(503), TIMEOUT_MS);
    expect((await fetch(`${service.address}/healthz`)).status).toBe(200);
    for (const protocol of PROTOCOLS) expect((await post(protocol)).status).toBe(protocol === 'messages' ? 529 : 503);
    finish.open();
    for (const { text } of streams) expect(await text).toMatch(WHOLE);
    expect(await exited()).toBe(0);
    expect([relayPid, ...workerPids].filter(isAlive)).toEqual([]);
    expect([service.hasPidFile, service.errors]).toEqual([false, []]);
    expect(service.output).not.toMatch(/received again|Shutdown timed out/);
  });

  it('R8: cuts off running calls of all workers at a second signal', async () => {
    await start();
    relay.upstream.script(inHalves(new Promise(() => undefined)));
    const streams = await streamsOnBoth();
    service.wrapper.kill('SIGTERM');
    await eventually(() => {
      service.wrapper.kill('SIGTERM');
      expect(service.output.match(/SIGTERM received again/g)).toHaveLength(2);
    }, TIMEOUT_MS);
    for (const { text } of streams) expect(await text).toContain('The server is shutting down');
    expect(await exited()).toBe(0);
    await expectSettled(streams, 'failed');
  });

  it.each([
    ['R8: drains when its wrapper is killed', (): unknown => service.wrapper.kill('SIGKILL')],
    ['lets its streams end when the primary is killed', (): unknown => process.kill(service.relayPid, 'SIGKILL')],
  ])('%s', async (_, kill) => {
    await start();
    const { workerPids, relayPid } = service;
    const finish = gate();
    relay.upstream.script(inHalves(finish));
    const streams = await streamsOnBoth();
    kill();
    const stopping = /"pid":\d+,"context":"Shutdown","msg":"Stopping \(its (?:primary|parent) exited/g;
    await eventually(() => expect(service.output.match(stopping)).toHaveLength(2), TIMEOUT_MS);
    expect(workerPids.filter(isAlive)).toEqual(workerPids);
    finish.open();
    for (const { text } of streams) expect(await text).toMatch(WHOLE);
    await Promise.all([relayPid, ...workerPids].map(untilGone));
    await expectSettled(streams, 'succeeded');
  });

  it('replaces a worker that is killed; the other goes on, and what the dead one had begun is closed', async () => {
    await start();
    const finish = gate();
    relay.upstream.script(inHalves(finish));
    const streams = await streamsOnBoth();
    const [victim = 0, other = 0] = service.workerPids;
    const at = await servers();
    process.kill(victim, 'SIGKILL');
    await untilGone(victim);
    await untilServing(2);
    expect(service.workerPids).toContain(other);
    expect(service.workerPids).not.toContain(victim);
    expect(service.output.match(/Switchboard is at/g)).toHaveLength(1);
    finish.open();
    const kept = streams.filter(({ id }) => at.get(id) === other);
    for (const { text } of kept) expect(await text).toMatch(WHOLE);
    await eventually(async () => {
      const calls = await relay.calls(caller);
      const statuses = Object.fromEntries(calls.map(({ id, status }) => [id, status]));
      const expected = streams.map(({ id }) => [id, at.get(id) === other ? 'succeeded' : 'interrupted']);
      expect(statuses).toEqual(Object.fromEntries(expected));
    }, TIMEOUT_MS);
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    relay.upstream.script(responseIn('messages'));
    for (let call = 0; call < 4; call += 1) expect((await post('messages')).status).toBe(200);
    expect(await service.stop()).toBe(0);
  });

  it('serves at the same address when all its workers were killed at once', async () => {
    await start();
    const { workerPids } = service;
    workerPids.forEach((pid) => process.kill(pid, 'SIGSTOP'));
    // Connections go to workers in turn, and these two take none.
    const waiting = Promise.allSettled([post('messages'), post('responses')]);
    await sleep(500);
    workerPids.forEach((pid) => process.kill(pid, 'SIGKILL'));
    // They are told, instead of waiting for somebody who is gone.
    expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await Promise.all(workerPids.map(untilGone));
    await untilServing(2);
    relay.upstream.script(responseIn('messages'));
    for (let call = 0; call < 4; call += 1) expect((await post('messages')).status).toBe(200);
  });

  it('refuses a disabled key on both within a second, also while neither hears of changes', async () => {
    await start();
    relay.upstream.script(responseIn('messages'));
    const statuses = async (): Promise<number[]> =>
      (await Promise.all(Array.from({ length: 8 }, () => post('messages')))).map(({ status }) => status);
    expect(new Set(await statuses())).toEqual(new Set([200]));
    const url = new URL(relay.databaseUrl);
    const name = url.pathname.slice(1);
    const server = new pg.Client({ connectionString: Object.assign(url, { pathname: '/postgres' }).href });
    await server.connect();
    const listening = service.workerPids.map((pid) => `switchboard ${pid} listen`);
    await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    try {
      const cut = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ANY ($1)';
      expect((await sql.query(cut, [listening])).rowCount).toBe(2);
      await eventually(
        () => expect(service.output.match(/Lost the notification connection/g)).toHaveLength(2),
        TIMEOUT_MS,
      );
      expect(new Set(await statuses())).toEqual(new Set([200]));
      await sql.query("UPDATE api_keys SET state = 'disabled' WHERE id = $1", [caller.keyId]);
      await sleep(1000);
      expect(new Set(await statuses())).toEqual(new Set([401]));
    } finally {
      await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await server.end();
    }
    await eventually(
      () => expect(service.output.match(/Notification connection restored/g)).toHaveLength(2),
      TIMEOUT_MS,
    );
  });
});

describe('a service with two workers and its own database', () => {
  const services: Service[] = [];
  function launch(environment: Record<string, string> = {}): Service {
    const service = Service.launch(undefined, { WORKERS: '2', ...environment });
    services.push(service);
    return service;
  }
  afterEach(async () => {
    for (const service of services.splice(0)) await service.remove();
  });

  it('greets once, migrates once, answers on both, and takes the database down with it', async () => {
    const service = launch();
    await service.untilPrinted(/Switchboard is at/);
    const { workerPids, postgresPid } = service;
    const [key = ''] = /sk-\w+/.exec(service.output) ?? [];
    const body = { ...aRequest('messages'), model: 'demo' };
    await eventually(async () => {
      // On a connection of its own each.
      const client = await RawClient.post({ url: service.address, path: PATHS.messages, key, body });
      expect((await client.head).status).toBe(200);
      client.close();
      const lines = service.output.split('\n').filter((line) => line.includes('"msg":"call"'));
      const pids = lines.map((line) => (JSON.parse(line) as { pid: number }).pid);
      expect(new Set(pids)).toEqual(new Set(service.workerPids));
    }, TIMEOUT_MS);
    const once = [/Switchboard is at/g, /Password .*\(shown once\)/g, /Migrated: /g];
    expect(once.map((pattern) => service.output.match(pattern)?.length)).toEqual([1, 1, 1]);
    expect(await service.command('ledger', 'check')).toMatchObject({ code: 0, stdout: 'ledger exact\n' });
    expect(await service.stop()).toBe(0);
    expect([...workerPids, postgresPid].filter(isAlive)).toEqual([]);
    expect([service.databaseRuns, service.errors]).toEqual([false, []]);
  });

  it('says in one line why its workers cannot start, and leaves nothing behind', async () => {
    const first = launch();
    await first.untilPrinted(/Switchboard is at/);
    const { port } = new URL(first.address);
    const other = launch({ PORT: port });
    await other.ended;
    expect(other.wrapper.exitCode).toBe(1);
    expect(other.errors).toEqual([
      expect.stringMatching(`^error: Port ${port} of 127.0.0.1 is already in use. Set PORT`),
    ]);
    expect([other.databaseRuns, other.hasPidFile]).toEqual([false, false]);
    const crowd = launch({ WORKERS: '64' });
    await crowd.ended;
    expect(crowd.errors).toEqual([expect.stringMatching(/^error: The database allows \d+ .* 64 workers need 1152:/)]);
  });
});
