import type { LoggedError } from '../../src/logged-error.js';
import { jest } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { plain } from '../support/api-errors.js';
import { DatabaseOutage } from '../support/database-outage.js';
import { aRequest, DIALECTS, PATHS } from '../support/dialects.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { untilGone } from '../support/processes.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  answerIn,
  type Dialect,
  encodeEvents,
  errorAnswer,
  endlessStream,
  eventsAround,
  eventsIn,
  gate,
  hang,
  head,
  type JsonObject,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';
import { readEvents, readText, withoutKeepAlives } from '../support/stream-text.js';

/** Has the program suffer what its defects, or its terminal, would do to it. */
const FAULTY = { NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, '../support/faults.mjs')).href}` };
/** Longer than any test: who waits for its end fails. */
const LONG_MS = '600000';
const STREAMS = 100;
const CUT_OFF = 'The service is shutting down and this call did not end in time. Try again in a moment.';
const NOT_TAKEN =
  'The service is shutting down and takes no new calls; nothing was sent upstream. Try again in a moment.';

// Each test starts a process and sees it end, by gates and not by the clock: a busy machine takes its time.
jest.setTimeout(3 * PATIENCE_MS);

/** An answer in two halves: up to its first piece of text, and what comes behind. */
function halves(dialect: string, text = ['Hello ', 'there']): [ScriptedEvent[], ScriptedEvent[]] {
  const events = eventsIn(dialect, { text, usage: { prompt: 100, completion: 5 } });
  const { until, behind } = eventsAround(events, text[0] ?? '');
  return [until, behind];
}

/** Serves `twice` from a second channel when the first one fails. */
const twoChannels = (baseUrl: string): string => `
models: [{ name: twice, context_window: 200000, max_output_tokens: 64000, prices: [{ input: 1, output: 10 }] }]
channels:
  - { name: first, protocol: responses, base_url: "${baseUrl}", credentials: [x], models: [twice], tier: 1 }
  - { name: second, protocol: responses, base_url: "${baseUrl}", credentials: [x], models: [twice], tier: 2 }
`;

/** One stream as its client sees it. */
interface Heard {
  readonly dialect: Dialect;
  readonly id: string;
  /** Opens with the first piece of text. */
  readonly begun: Promise<void>;
  readonly text: Promise<string>;
}

/** The process under test shares its database with an application in this one, which makes callers and reads rows. */
describe('R8: a process that is told to stop', () => {
  let relay: RelayApp;
  let service: Service;
  let caller: TestCaller;
  beforeAll(async () => {
    // The first start of a program that is not built takes as long as the build.
    execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.mjs')], { stdio: 'ignore' });
    relay = await RelayApp.start();
    await relay.applyCatalog(twoChannels(relay.upstream.url));
  });
  afterAll(() => relay.close());
  beforeEach(async () => (caller = await relay.caller()));
  afterEach(async () => {
    RawClient.closeAll();
    await service.stop('SIGKILL');
    relay.upstream.reset();
    await service.remove();
  });

  async function start(graceMs: string, environment: Record<string, string> = {}): Promise<void> {
    service = await Service.start(undefined, {
      DATABASE_URL: relay.databaseUrl,
      SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
      DEMO: 'off',
      SHUTDOWN_GRACE_MS: graceMs,
      ...environment,
    });
  }

  const exited = async (): Promise<number | null> =>
    eventually(() => {
      if (service.wrapper.exitCode === null) throw new Error(`Still running:\n${service.output}`);
      return service.wrapper.exitCode;
    }, PATIENCE_MS);
  const untilDraining = (): Promise<void> =>
    eventually(async () => expect((await fetch(`${service.address}/readyz`)).status).toBe(503), PATIENCE_MS);
  /** A second SIGTERM counts from a second after the first on. */
  const endGrace = (kill: () => void = () => service.wrapper.kill('SIGTERM')): Promise<void> =>
    eventually(() => {
      kill();
      expect(service.output).toContain('SIGTERM once more');
    }, PATIENCE_MS);
  const untilCutOff = (): Promise<void> => service.untilPrinted(/Cut off: \d+ requests/, PATIENCE_MS);

  function post(dialect: Dialect, overrides: JsonObject = {}): Promise<Response> {
    return fetch(`${service.address}${PATHS[dialect]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify(aRequest(dialect, overrides)),
    });
  }

  async function stream(dialect: Dialect): Promise<Heard> {
    const response = await post(dialect, { stream: true });
    expect(response.status).toBe(200);
    const begun = gate();
    const text = readText(response, (soFar) => {
      if (soFar.includes('Hello ')) begun.open();
    });
    text.catch(() => undefined);
    return { dialect, id: response.headers.get('x-request-id') ?? '', begun, text };
  }

  /** Answers with the first half of a stream, and with the second when the gate opens. */
  const inHalves =
    (until: () => Promise<void>): Script =>
    ({ dialect = 'messages' }) => {
      const [first, second] = halves(dialect);
      return [streamHead(), sse(first), waitFor(until()), sse(second)];
    };

  /** What a client has heard was the beginning of an answer, then an error of its dialect and nothing else. */
  async function expectCutOff({ dialect, id, text }: Heard, message = CUT_OFF): Promise<void> {
    const before = withoutKeepAlives(encodeEvents(halves(dialect)[0]).toString());
    const heard = withoutKeepAlives(await text);
    expect(heard.slice(0, before.length)).toBe(before);
    const events = readEvents(heard.slice(before.length));
    const told = `${message} (request id: ${id})`;
    if (dialect === 'responses') {
      expect(events.map(({ event, data }) => event ?? data)).toEqual(['error', 'response.failed', '[DONE]']);
      const error = { type: 'server_error', code: 'server_error', message: told, param: null };
      expect(JSON.parse(events[0]?.data ?? '')).toMatchObject({ ...error, type: 'error', error });
      const response = { status: 'failed', error: { code: 'server_error', message: told } };
      expect(JSON.parse(events[1]?.data ?? '')).toMatchObject({ type: 'response.failed', response });
      return;
    }
    const openAi = { error: { message: told, type: 'server_error', param: null, code: 'server_is_overloaded' } };
    const messages = { type: 'error', error: { type: 'overloaded_error', message: told }, request_id: id };
    expect(events.map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
      dialect === 'messages' ? ['error', messages] : [undefined, openAi],
    ]);
  }

  async function expectRefused(dialect: Dialect, response: Response, message: string): Promise<void> {
    const id = response.headers.get('x-request-id') ?? '';
    const text = await response.text();
    expect([response.status, text]).toEqual([dialect === 'messages' ? 529 : 503, expect.any(String)]);
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'retry-after': '1', connection: 'close' });
    expect(response.headers.get('x-should-retry')).toBeNull();
    const { error } = JSON.parse(text) as { error: { message: string } };
    expect(plain(error.message, id)).toBe(message);
    expect(error).toMatchObject(
      dialect === 'messages'
        ? { type: 'overloaded_error' }
        : { type: 'server_error', code: 'server_is_overloaded', param: null },
    );
  }

  /** The row of each call by its id. */
  async function rows(count: number): Promise<ReadonlyMap<string, JsonObject>> {
    const calls = await eventually(async () => {
      const all = await relay.calls(caller);
      expect(all).toHaveLength(count);
      return all;
    });
    return new Map(calls.map((row) => [row.id, row]));
  }

  async function expectExact(): Promise<void> {
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  }

  const CUT_ROW = { status: 'failed', error_reason: 'shutting_down', error_message: CUT_OFF };

  it(`lets running streams end, refuses new calls, and ends the rest of ${STREAMS} with an error when it is told again`, async () => {
    await start(LONG_MS);
    const finish = gate();
    let number = 0;
    relay.upstream.script(inHalves(() => (number++ % 2 === 0 ? finish : new Promise(() => undefined))));
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, (_, index) => stream(DIALECTS[index % 3] ?? 'messages')),
    );
    await Promise.all(streams.map(({ begun }) => begun));

    service.wrapper.kill('SIGTERM');
    await untilDraining();
    const ready = await fetch(`${service.address}/readyz`);
    expect([await ready.json(), ready.headers.get('connection')]).toEqual([{ status: 'draining' }, 'close']);
    expect((await fetch(`${service.address}/readyz`, { method: 'HEAD' })).status).toBe(503);
    expect((await fetch(`${service.address}/healthz`)).status).toBe(200);
    for (const dialect of DIALECTS) await expectRefused(dialect, await post(dialect), NOT_TAKEN);
    const stranger = await fetch(`${service.address}/v1/messages`, { method: 'POST', body: '{}' });
    expect(stranger.status).toBe(401);

    finish.open();
    const ended = await eventually(async () => {
      const all = await relay.calls(caller);
      expect(all.filter(({ status }) => status === 'succeeded')).toHaveLength(STREAMS / 2);
      return new Set(all.filter(({ status }) => status === 'succeeded').map(({ id }) => id));
    }, PATIENCE_MS);
    await endGrace();
    expect(await exited()).toBe(0);

    const all = await rows(STREAMS + DIALECTS.length);
    for (const heard of streams) {
      const row = all.get(heard.id);
      if (ended.has(heard.id)) {
        const [first, second] = halves(heard.dialect);
        const whole = encodeEvents([...first, ...second]).toString();
        expect(withoutKeepAlives(await heard.text)).toBe(withoutKeepAlives(whole));
        // Chat Completions report usage only to those who ask for it.
        const basis = heard.dialect === 'chat-completions' ? 'estimated' : 'reported';
        expect(row).toMatchObject({ status: 'succeeded', billing_basis: basis });
      } else {
        await expectCutOff(heard);
        expect(row).toMatchObject({ ...CUT_ROW, billing_basis: 'partial', first_token_ms: null });
        expect(BigInt(row?.['cost'] as string)).toBeGreaterThan(0n);
      }
    }
    const refused = { status: 'refused', error_reason: 'shutting_down', error_message: NOT_TAKEN, cost: '0' };
    expect([...all.values()].filter(({ status }) => status === 'refused')).toEqual(
      DIALECTS.map((protocol) => expect.objectContaining({ ...refused, protocol }) as unknown),
    );
    // Not one of those that were cut off goes on at the upstream, and no refused call has come there.
    const closed = await Promise.all(relay.upstream.requests.map((request) => request.closed));
    expect(closed.toSorted()).toEqual([
      ...Array.from({ length: STREAMS / 2 }, () => 'finished'),
      ...Array.from({ length: STREAMS / 2 }, () => 'left'),
    ]);
    await expectExact();
  });

  it('ends what has not been answered yet with an HTTP error of its dialect when the grace is over', async () => {
    await start('1500');
    const silent: Script = ({ json }) =>
      json['stream'] === true ? [streamHead(), hang()] : [head(200, { 'content-type': 'application/json' }), hang()];
    relay.upstream.script(silent);
    const calls = DIALECTS.flatMap((dialect) => [
      { dialect, answer: post(dialect) },
      { dialect, answer: post(dialect, { stream: true }) },
    ]);
    await eventually(() => expect(relay.upstream.requests).toHaveLength(6), PATIENCE_MS);
    // One is at its second channel, which does not even answer its headers.
    relay.upstream.script([hang()]);
    relay.upstream.scriptNext(errorAnswer('responses', 503));
    calls.push({ dialect: 'responses', answer: post('responses', { model: 'twice' }) });
    await eventually(() => expect(relay.upstream.requests).toHaveLength(8), PATIENCE_MS);
    const uploading = await RawClient.post({
      url: service.address,
      path: '/v1/messages',
      key: caller.key,
      body: '{"model":"m",',
      headers: { 'content-length': '1000' },
    });

    service.wrapper.kill('SIGTERM');
    for (const { dialect, answer } of calls) await expectRefused(dialect, await answer, CUT_OFF);
    expect((await uploading.head).status).toBe(529);
    expect(await uploading.ended).toBe('complete');
    expect(await exited()).toBe(0);
    const all = [...(await rows(8)).values()];
    expect(all.filter(({ status }) => status === 'failed')).toHaveLength(7);
    expect(all.filter(({ model }) => model === 'twice')).toMatchObject([{ attempts: 2 }]);
    for (const row of all)
      expect(row).toMatchObject({ error_reason: 'shutting_down', billing_basis: 'free', cost: '0' });
    expect(all.filter(({ status }) => status === 'refused')).toMatchObject([{ protocol: 'messages' }]);
    await expectExact();
  });

  it('does not send upstream what is admitted only when the grace is over, and keeps nothing on hold', async () => {
    await start('1');
    await withLock(async (release) => {
      const answer = post('responses');
      await eventually(async () => expect(await waitingForLock()).toBe(1));
      service.wrapper.kill('SIGTERM');
      await untilCutOff();
      await release();
      // On a machine that takes two seconds to get here, the admission has been given up: refused all the same.
      expect((await answer).status).toBe(503);
    });
    expect(await exited()).toBe(0);
    expect(relay.upstream.requests).toHaveLength(0);
    expect(await relay.onlyCall(caller)).toMatchObject({ billing_basis: 'free', attempts: 0 });
    await expectExact();
  });

  it('tells the client of an answer that cannot be recorded in time, and records it all the same', async () => {
    await start('1');
    const finish = gate();
    relay.upstream.script(inHalves(() => finish));
    const heard = await stream('messages');
    await heard.begun;
    await withLock(async (release) => {
      finish.open();
      await eventually(async () => expect(await waitingForLock()).toBe(1));
      service.wrapper.kill('SIGTERM');
      const text = await heard.text;
      expect(text).toContain('could not be recorded');
      expect(text).not.toContain('message_stop');
      await release();
    });
    expect(await exited()).toBe(0);
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded', billing_basis: 'reported' });
    await expectExact();
  });

  it('charges nothing for an unstreamed answer whose client was told that it could not be recorded', async () => {
    await start(LONG_MS);
    const finish = gate();
    relay.upstream.script([waitFor(finish), answerIn('messages')]);
    const answer = post('messages');
    await eventually(() => expect(relay.upstream.requests).toHaveLength(1), PATIENCE_MS);
    const outage = await DatabaseOutage.of(relay.databaseUrl);
    await outage.begin();
    try {
      finish.open();
      expect(await relay.upstream.requests[0]?.closed).toBe('finished');
      service.wrapper.kill('SIGTERM');
      // A second later at the earliest: the answer has come by then, and waits for its settlement.
      await endGrace();
      const told = await answer;
      expect(told.headers.get('x-should-retry')).toBe('false');
      expect(await told.text()).toContain('could not be recorded');
    } finally {
      await outage.end();
      await outage.close();
    }
    expect(await exited()).toBe(0);
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', billing_basis: 'free', cost: '0' });
    await expectExact();
  });

  it('waits for a client that is slow to take its last bytes, but not for one that takes none', async () => {
    // What the buffers between them take would use up less.
    caller = await relay.caller({ credit: '1000' });
    await start('1');
    relay.upstream.script(endlessStream('chat-completions', { text: 'x'.repeat(10_000), gapMs: 0 }));
    const body = aRequest('chat-completions', { stream: true });
    const [slow, stuck] = await Promise.all(
      [0, 1].map(() =>
        RawClient.post({ url: service.address, path: PATHS['chat-completions'], key: caller.key, body }),
      ),
    );
    await Promise.all([slow?.head, stuck?.head]);
    slow?.pause();
    stuck?.pause();
    await untilStalled();
    service.wrapper.kill('SIGTERM');
    await untilCutOff();
    slow?.resume();
    expect(await slow?.ended).toBe('complete');
    const { data } = readEvents(slow?.body ?? '').at(-1) ?? {};
    expect(JSON.parse(data ?? '')).toMatchObject({ error: { code: 'server_is_overloaded' } });
    expect(await exited()).toBe(0);
    for (const row of (await rows(2)).values()) expect(row).toMatchObject({ ...CUT_ROW, billing_basis: 'partial' });
    await expectExact();
  });

  it('drains in the same way when its wrapper is killed', async () => {
    await start(LONG_MS);
    const { relayPid } = service;
    const finish = gate();
    relay.upstream.script(inHalves(() => new Promise(() => undefined)));
    relay.upstream.scriptNext(inHalves(() => finish));
    const whole = await stream('responses');
    const cut = await stream('messages');
    await Promise.all([whole.begun, cut.begun]);
    service.wrapper.kill('SIGKILL');
    await untilDraining();
    expect((await fetch(`${service.address}/healthz`)).status).toBe(200);
    finish.open();
    expect(await whole.text).toContain('response.completed');
    await endGrace(() => process.kill(relayPid, 'SIGTERM'));
    await expectCutOff(cut);
    await untilGone(relayPid);
    const all = await rows(2);
    expect(all.get(whole.id)).toMatchObject({ status: 'succeeded' });
    expect(all.get(cut.id)).toMatchObject(CUT_ROW);
    await expectExact();
  });

  it('ends at once when nothing runs, and closes connections that wait for another request', async () => {
    await start(LONG_MS);
    const finish = gate();
    relay.upstream.script(inHalves(() => finish));
    const heard = await stream('messages');
    await heard.begun;
    const idle = await keptAlive();
    service.wrapper.kill('SIGTERM');
    await idle.closed;
    // By the process, not by its end.
    expect((await fetch(`${service.address}/readyz`)).status).toBe(503);
    const left = await keptAlive();
    finish.open();
    expect(await heard.text).toContain('message_stop');
    await left.closed;
    expect(await exited()).toBe(0);
  });

  it('drains in the same way when the terminal that it writes to is closed', async () => {
    await start(LONG_MS, FAULTY);
    const finish = gate();
    relay.upstream.script(inHalves(() => finish));
    const heard = await stream('messages');
    await heard.begun;
    service.wrapper.kill('SIGHUP');
    await untilDraining();
    finish.open();
    expect(await heard.text).toContain('message_stop');
    expect(await exited()).toBe(0);
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded' });
  });

  it('R12: goes on when an exception or a rejection was not caught, and ends the call that it belongs to', async () => {
    await start(LONG_MS, FAULTY);
    const finish = gate();
    const saying = (text: string): Script => {
      const [first, second] = halves('messages', [text, 'there']);
      return [streamHead(), sse(first), waitFor(finish), sse(second)];
    };
    // The connection that the faulty calls use was opened by a call that has ended.
    relay.upstream.scriptNext(answerIn('messages'));
    await (await post('messages')).text();
    relay.upstream.scriptNext(saying('Hello <exception>'));
    const faulty = await stream('messages');
    expect(readEvents(withoutKeepAlives(await faulty.text)).at(-1)).toMatchObject({
      event: 'error',
      data: expect.stringContaining('"api_error"') as unknown,
    });
    relay.upstream.scriptNext(saying('Hello <rejection>'), saying('Hello '));
    const [rejecting, other] = [await stream('messages'), await stream('messages')];
    await Promise.all([rejecting.begun, other.begun]);
    finish.open();
    for (const { text } of [rejecting, other]) expect(await text).toContain('message_stop');

    process.kill(service.relayPid, 'SIGUSR2');
    await service.untilPrinted(/exception of no call/, PATIENCE_MS);

    // Each once: what ends a call is logged as the reason of its failure.
    const logged = service.output
      .split('\n')
      .filter((line) => line.includes('injected'))
      .map((line) => JSON.parse(line) as { context: string; err: LoggedError; request_id?: string })
      .map(({ context, err, request_id }) => [(err.cause ?? err).message, context, request_id]);
    expect(logged).toEqual([
      ['An injected exception.', 'Call', faulty.id],
      ['An injected rejection.', 'Fault', rejecting.id],
      ['An injected exception of no call.', 'Fault', undefined],
    ]);
    const all = await rows(4);
    expect(all.get(faulty.id)).toMatchObject({ status: 'failed', error_reason: 'internal', billing_basis: 'partial' });
    expect(all.get(rejecting.id)).toMatchObject({ status: 'succeeded' });
    expect(await service.stop()).toBe(0);
    await expectExact();
  });

  it('says what it could not settle, and ends with 1, when its database is gone', async () => {
    await start('1');
    relay.upstream.script(inHalves(() => new Promise(() => undefined)));
    const heard = await stream('messages');
    await heard.begun;
    const name = databaseName();
    await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    try {
      service.wrapper.kill('SIGTERM');
      await expectCutOff(heard);
      expect(await exited()).toBe(1);
    } finally {
      await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    }
    const lost = service.output.split('\n').find((line) => line.includes('could not be settled'));
    expect(JSON.parse(lost ?? '{}')).toMatchObject({
      request_id: heard.id,
      status: 'failed',
      billing_basis: 'partial',
    });
  });

  const databaseName = (): string => new URL(relay.databaseUrl).pathname.slice(1);

  /** Keeps the wallet's row locked while the work goes on, or until it says so. */
  async function withLock(work: (release: () => Promise<unknown>) => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: relay.databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM wallets WHERE account_id = $1 FOR UPDATE', [caller.accountId]);
      await work(() => client.query('ROLLBACK'));
    } finally {
      await client.end();
    }
  }

  async function waitingForLock(): Promise<number> {
    const [row] = await onServer(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '${databaseName()}'`,
    );
    return row?.['waiting'] as number;
  }

  async function onServer(sql: string): Promise<JsonObject[]> {
    const url = new URL(relay.databaseUrl);
    url.pathname = '/postgres';
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      return (await client.query<JsonObject>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Until nothing more goes out of the upstream: all buffers on the way are full. */
  async function untilStalled(): Promise<void> {
    const sent = (): number => relay.upstream.requests.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
    for (let before = -1, now = sent(); now !== before; before = now, now = sent())
      await new Promise((done) => setTimeout(done, 300));
  }

  /** A connection that has had an answer. */
  async function keptAlive(): Promise<{ readonly closed: Promise<void> }> {
    const { hostname, port } = new URL(service.address);
    const socket: Socket = connect(Number(port), hostname);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    return { closed };
  }
});
