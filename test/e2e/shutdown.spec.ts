import type { LoggedError } from '../../src/platform/logging/pino.logger.js';
import { jest } from '@jest/globals';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { untilGone } from '../support/processes.js';
import { RawClient } from '../support/raw-client.js';
import {
  responseIn,
  encodeEvents,
  errorResponse,
  endlessStream,
  gate,
  hang,
  head,
  type Script,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';
import { CUT_OFF, halves, LONG_MS, useStoppingService } from '../support/stopping-service.js';
import { readEvents, withoutKeepAlives } from '../support/stream-text.js';

/** Has the program suffer what its defects, or its terminal, would do to it. */
const FAULTY = { NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, '../support/faults.mjs')).href}` };
const STREAMS = 100;
const NOT_TAKEN = 'The server is shutting down. Nothing was sent upstream; retry shortly.';

// Each test starts a process and sees it end, by gates and not by the clock: a busy machine takes its time.
jest.setTimeout(3 * TIMEOUT_MS);

describe('R8: a process that is stopped', () => {
  const world = useStoppingService();
  const {
    start,
    exited,
    untilDraining,
    endGrace,
    untilCutOff,
    post,
    stream,
    inHalves,
    expectCutOff,
    expectRefused,
    rows,
    expectExact,
  } = world;

  const CUT_ROW = { status: 'failed', error_reason: 'shutting_down', error_message: CUT_OFF };

  it(`lets running streams end, refuses new calls, and ends the rest of ${STREAMS} with an error at a second signal`, async () => {
    await start(LONG_MS);
    const finish = gate();
    let number = 0;
    world.relay.upstream.script(inHalves(() => (number++ % 2 === 0 ? finish : new Promise(() => undefined))));
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, (_, index) => stream(PROTOCOLS[index % 3] ?? 'messages')),
    );
    await Promise.all(streams.map(({ begun }) => begun));

    world.service.wrapper.kill('SIGTERM');
    await untilDraining();
    const ready = await fetch(`${world.service.address}/readyz`);
    expect([await ready.json(), ready.headers.get('connection')]).toEqual([{ status: 'draining' }, 'close']);
    expect((await fetch(`${world.service.address}/readyz`, { method: 'HEAD' })).status).toBe(503);
    expect((await fetch(`${world.service.address}/healthz`)).status).toBe(200);
    for (const protocol of PROTOCOLS) await expectRefused(protocol, await post(protocol), NOT_TAKEN);
    const otherUser = await fetch(`${world.service.address}/v1/messages`, { method: 'POST', body: '{}' });
    expect(otherUser.status).toBe(401);

    finish.open();
    const ended = await eventually(async () => {
      const all = await world.relay.calls(world.caller);
      expect(all.filter(({ status }) => status === 'succeeded')).toHaveLength(STREAMS / 2);
      return new Set(all.filter(({ status }) => status === 'succeeded').map(({ id }) => id));
    }, TIMEOUT_MS);
    await endGrace();
    expect(await exited()).toBe(0);

    const all = await rows(STREAMS + PROTOCOLS.length);
    for (const received of streams) {
      const row = all.get(received.id);
      if (ended.has(received.id)) {
        const [first, second] = halves(received.protocol);
        const whole = encodeEvents([...first, ...second]).toString();
        expect(withoutKeepAlives(await received.text)).toBe(withoutKeepAlives(whole));
        // Chat Completions report usage only to those who ask for it.
        const basis = received.protocol === 'chat-completions' ? 'estimated' : 'reported';
        expect(row).toMatchObject({ status: 'succeeded', billing_basis: basis });
      } else {
        await expectCutOff(received);
        expect(row).toMatchObject({ ...CUT_ROW, billing_basis: 'partial', first_token_ms: null });
        expect(BigInt(row?.['cost'] as string)).toBeGreaterThan(0n);
      }
    }
    const refused = { status: 'refused', error_reason: 'shutting_down', error_message: NOT_TAKEN, cost: '0' };
    expect([...all.values()].filter(({ status }) => status === 'refused')).toEqual(
      PROTOCOLS.map((protocol) => expect.objectContaining({ ...refused, protocol }) as unknown),
    );
    // Not one of those that were cut off goes on at the upstream, and no refused call has come there.
    const closed = await Promise.all(world.relay.upstream.requests.map((request) => request.closed));
    expect(closed.toSorted()).toEqual([
      ...Array.from({ length: STREAMS / 2 }, () => 'finished'),
      ...Array.from({ length: STREAMS / 2 }, () => 'left'),
    ]);
    await expectExact();
  });

  it('ends what has not been answered yet with an HTTP error of its protocol when the grace is over', async () => {
    await start('1500');
    const silent: Script = ({ json }) =>
      json['stream'] === true ? [streamHead(), hang()] : [head(200, { 'content-type': 'application/json' }), hang()];
    world.relay.upstream.script(silent);
    const calls = PROTOCOLS.flatMap((protocol) => [
      { protocol, response: post(protocol) },
      { protocol, response: post(protocol, { stream: true }) },
    ]);
    await eventually(() => expect(world.relay.upstream.requests).toHaveLength(6), TIMEOUT_MS);
    // One is at its second channel, which does not even answer its headers.
    world.relay.upstream.script([hang()]);
    world.relay.upstream.scriptNext(errorResponse('responses', 503));
    calls.push({ protocol: 'responses', response: post('responses', { model: 'twice' }) });
    await eventually(() => expect(world.relay.upstream.requests).toHaveLength(8), TIMEOUT_MS);
    const uploading = await RawClient.post({
      url: world.service.address,
      path: '/v1/messages',
      key: world.caller.key,
      body: '{"model":"m",',
      headers: { 'content-length': '1000' },
    });

    world.service.wrapper.kill('SIGTERM');
    for (const { protocol, response } of calls) await expectRefused(protocol, await response, CUT_OFF);
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

  it('waits for a client that is slow to take its last bytes, but not for one that takes none', async () => {
    // What the buffers between them take would use up less.
    world.caller = await world.relay.caller({ credit: '1000' });
    await start('1');
    world.relay.upstream.script(endlessStream('chat-completions', { text: 'x'.repeat(10_000), gapMs: 0 }));
    const body = aRequest('chat-completions', { stream: true });
    const [slow, stuck] = await Promise.all(
      [0, 1].map(() =>
        RawClient.post({ url: world.service.address, path: PATHS['chat-completions'], key: world.caller.key, body }),
      ),
    );
    await Promise.all([slow?.head, stuck?.head]);
    slow?.pause();
    stuck?.pause();
    await untilStalled();
    world.service.wrapper.kill('SIGTERM');
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
    const { relayPid } = world.service;
    const finish = gate();
    world.relay.upstream.script(inHalves(() => new Promise(() => undefined)));
    world.relay.upstream.scriptNext(inHalves(() => finish));
    const whole = await stream('responses');
    const cut = await stream('messages');
    await Promise.all([whole.begun, cut.begun]);
    world.service.wrapper.kill('SIGKILL');
    await untilDraining();
    expect((await fetch(`${world.service.address}/healthz`)).status).toBe(200);
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
    world.relay.upstream.script(inHalves(() => finish));
    const received = await stream('messages');
    await received.begun;
    const idle = await keptAlive();
    world.service.wrapper.kill('SIGTERM');
    await idle.closed;
    // By the process, not by its end.
    expect((await fetch(`${world.service.address}/readyz`)).status).toBe(503);
    const left = await keptAlive();
    finish.open();
    expect(await received.text).toContain('message_stop');
    await left.closed;
    expect(await exited()).toBe(0);
  });

  it('drains in the same way when the terminal that it writes to is closed', async () => {
    await start(LONG_MS, FAULTY);
    const finish = gate();
    world.relay.upstream.script(inHalves(() => finish));
    const received = await stream('messages');
    await received.begun;
    world.service.wrapper.kill('SIGHUP');
    await untilDraining();
    finish.open();
    expect(await received.text).toContain('message_stop');
    expect(await exited()).toBe(0);
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({ status: 'succeeded' });
  });

  it('R12: goes on when an exception or a rejection was not caught, and ends the call that it belongs to', async () => {
    await start(LONG_MS, FAULTY);
    const finish = gate();
    const saying = (text: string): Script => {
      const [first, second] = halves('messages', [text, 'there']);
      return [streamHead(), sse(first), waitFor(finish), sse(second)];
    };
    // The connection that the faulty calls use was opened by a call that has ended.
    world.relay.upstream.scriptNext(responseIn('messages'));
    await (await post('messages')).text();
    world.relay.upstream.scriptNext(saying('Hello <exception>'));
    const faulty = await stream('messages');
    expect(readEvents(withoutKeepAlives(await faulty.text)).at(-1)).toMatchObject({
      event: 'error',
      data: expect.stringContaining('"api_error"') as unknown,
    });
    world.relay.upstream.scriptNext(saying('Hello <rejection>'), saying('Hello '));
    const [rejecting, other] = [await stream('messages'), await stream('messages')];
    await Promise.all([rejecting.begun, other.begun]);
    finish.open();
    for (const { text } of [rejecting, other]) expect(await text).toContain('message_stop');

    process.kill(world.service.relayPid, 'SIGUSR2');
    await world.service.untilPrinted(/exception of no call/, TIMEOUT_MS);

    // Each once: what ends a call is logged as the reason of its failure.
    const logged = world.service.output
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
    expect(await world.service.stop()).toBe(0);
    await expectExact();
  });

  /** Until nothing more goes out of the upstream: all buffers on the way are full. */
  async function untilStalled(): Promise<void> {
    const sent = (): number => world.relay.upstream.requests.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
    for (let before = -1, now = sent(); now !== before; before = now, now = sent())
      await new Promise((done) => setTimeout(done, 300));
  }

  /** A connection that has had a response. */
  async function keptAlive(): Promise<{ readonly closed: Promise<void> }> {
    const { hostname, port } = new URL(world.service.address);
    const socket: Socket = connect(Number(port), hostname);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    return { closed };
  }
});
