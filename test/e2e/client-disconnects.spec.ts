import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  delay,
  type ProtocolEndpoint,
  errorResponse,
  eventsIn,
  hang,
  head,
  type Script,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';

/** The promise is 100 ms; what passes between the client's socket and the relay on a busy machine is not the relay's. */
const ABORT_MS = 1000;

describe('R4: a client that leaves (cases 94 and 103)', () => {
  let relay: RelayApp;
  beforeAll(async () => (relay = await RelayApp.start()));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  interface DisconnectedCall {
    readonly row: StoredCall;
    readonly caller: TestCaller;
    /** From the client's leaving until the upstream's socket was closed. */
    readonly abortMs: number;
  }

  /** Calls, leaves as soon as `when` says so, and waits for what becomes of it. */
  async function leave(
    protocol: ProtocolEndpoint,
    script: Script,
    when: 'sent' | 'content',
    stream: boolean,
  ): Promise<DisconnectedCall> {
    const caller = await relay.caller();
    relay.upstream.script(script);
    const client = new AbortController();
    const response = fetch(`${relay.url}${PATHS[protocol]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify(aRequest(protocol, { stream })),
      signal: client.signal,
    });
    response.catch(() => undefined);
    const request = await relay.upstream.nextRequest();
    if (when === 'content') await (await response).body?.getReader().read();
    else await sleep(50);
    const leftAt = performance.now();
    client.abort();
    expect(await request.closed).toBe('left');
    const row = await relay.onlyCall(caller);
    return { row, caller, abortMs: (request.closedAt ?? Infinity) - leftAt };
  }

  async function expectClosed({ row, caller, abortMs }: DisconnectedCall): Promise<void> {
    expect(row).toMatchObject({ status: 'cancelled', error_reason: 'context canceled' });
    expect(abortMs).toBeLessThan(ABORT_MS);
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
    await sleep(20);
    expect(await relay.calls(caller)).toHaveLength(1);
  }

  it.each(PROTOCOLS)('(a) before the upstream has answered its headers pays for the prompt: %s', async (protocol) => {
    const left = await leave(protocol, [hang()], 'sent', true);
    await expectClosed(left);
    // `Hello` from one user: one token, 4 around a message, 3 before the response.
    const charged = { billing_basis: 'partial', prompt_tokens: '8', completion_tokens: '0', cost: '8000' };
    expect(left.row).toMatchObject({ ...charged, first_token_ms: null });
  });

  it.each(PROTOCOLS)(
    '(b) before the first token pays for the prompt that the upstream has read: %s',
    async (protocol) => {
      const left = await leave(protocol, [streamHead(), hang()], 'sent', true);
      await expectClosed(left);
      expect(left.row).toMatchObject({ billing_basis: 'partial', completion_tokens: '0', first_token_ms: null });
      expect(BigInt(left.row['cost'] as string)).toBeGreaterThan(0n);
    },
  );

  it.each(PROTOCOLS)('(c) mid-stream pays for what was streamed: %s', async (protocol) => {
    const events = eventsIn(protocol, { text: ['Hello ', 'out there, ', 'whoever you are'] });
    const left = await leave(protocol, [streamHead(), sse(events.slice(0, -3)), hang()], 'content', true);
    await expectClosed(left);
    expect(left.row).toMatchObject({ billing_basis: 'partial', stream: true });
    expect(left.row['first_token_ms']).toBeGreaterThanOrEqual(0);
    expect(Number(left.row['completion_tokens'])).toBeGreaterThan(0);
  });

  it.each(PROTOCOLS)('(d) during an unstreamed call: %s', async (protocol) => {
    const left = await leave(protocol, [head(200, { 'content-type': 'application/json' }), delay(5000)], 'sent', false);
    await expectClosed(left);
    expect(left.row).toMatchObject({ stream: false, first_token_ms: null });
  });

  it('records the usage that was reported before the client left (case 94)', async () => {
    const events = eventsIn('messages', { usage: { prompt: 321 }, text: ['Hello ', 'there'] });
    const { row } = await leave('messages', [streamHead(), sse(events.slice(0, 4)), hang()], 'content', true);
    expect(row).toMatchObject({ billing_basis: 'partial', prompt_tokens: '321' });
  });

  it('leaves no hold behind when the client has gone before the call was admitted', async () => {
    const caller = await relay.caller();
    const attempts = Array.from({ length: 20 }, async (_, index) => {
      const client = new AbortController();
      setTimeout(() => client.abort(), index);
      relay.upstream.script([hang()]);
      await fetch(`${relay.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${caller.key}` },
        body: JSON.stringify(aRequest('responses')),
        signal: client.signal,
      }).catch(() => undefined);
    });
    await Promise.all(attempts);
    const wallet = { balance: '10', held: '0', holds: 0 };
    await eventually(async () => expect(await relay.wallet(caller)).toEqual(wallet), TIMEOUT_MS);
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });

  /** Writes raw bytes of a request and destroys the socket at once. */
  function cutOff(key: string, body: string, contentLength = body.length): Promise<void> {
    const { hostname, port } = new URL(relay.url);
    const opening = `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: ${contentLength}\r\n\r\n`;
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(opening + body, () => setTimeout(() => socket.destroy(), 1));
      });
      socket.on('close', () => resolve());
    });
  }

  it('leaves exactly one row when the client has gone while its key was looked up', async () => {
    relay.upstream.script([hang()]);
    const callers = await Promise.all(Array.from({ length: 10 }, () => relay.caller()));
    await Promise.all(callers.map(({ key }) => cutOff(key, JSON.stringify(aRequest('responses')))));
    for (const caller of callers) {
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'cancelled', error_reason: 'context canceled' });
      expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    }
  });

  it('leaves a row with its address when the client has gone in the middle of its request', async () => {
    const caller = await relay.caller();
    await cutOff(caller.key, '{"model":"m",', 1000);
    expect(await relay.onlyCall(caller)).toMatchObject({
      status: 'cancelled',
      error_reason: 'context canceled',
      ip: '127.0.0.1',
      billing_basis: 'free',
    });
  });

  it('pays for the prompt once when one upstream refused it and another has it', async () => {
    await relay.applyCatalog(`
models: [{ name: twice, context_window: 200000, max_output_tokens: 64000, prices: [{ input: 1, output: 10 }] }]
channels:
  - { name: first, protocol: responses, base_url: "${relay.upstream.url}", credentials: [x], models: [twice], tier: 1 }
  - { name: second, protocol: responses, base_url: "${relay.upstream.url}", credentials: [x], models: [twice], tier: 2 }
`);
    const caller = await relay.caller();
    relay.upstream.script([hang()]);
    relay.upstream.scriptNext(errorResponse('responses', 503));
    const client = new AbortController();
    const body = JSON.stringify(aRequest('responses', { model: 'twice' }));
    const headers = { authorization: `Bearer ${caller.key}` };
    const response = fetch(`${relay.url}/v1/responses`, { method: 'POST', headers, body, signal: client.signal });
    response.catch(() => undefined);
    await relay.upstream.nextRequest();
    await relay.upstream.nextRequest();
    client.abort();
    expect(await relay.onlyCall(caller)).toMatchObject({
      status: 'cancelled',
      billing_basis: 'partial',
      cost: '8000',
      attempts: 2,
    });
  });
});
