import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { RelayTimings } from '../../src/relay/index.js';
import { aRequest } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  messagesOf,
  rejectWith,
  respondWith,
  ScriptedSockets,
  type SocketScript,
  type UpstreamConnection,
} from '../support/scripted-sockets.js';
import { eventsAround, eventsIn, responseIn } from '../support/scripted-upstream.js';
import { socketClients } from '../support/socket-client.js';

const HELLO = { model: 'native', input: 'Hello' };
const UNSTORED = { model: 'native', store: false };
const USAGE = { prompt: 1000, completion: 200 };
/** 1000 tokens in at $1 per million, 200 out at $10. */
const COST = '3000000';
const NOT_FOUND = { type: 'invalid_request_error', code: 'previous_response_not_found', message: 'Not found.' };

const catalog = (url: string): string => `
models:
${['native', 'plain', 'hasty']
  .map(
    (name) => `
  - { name: ${name}, context_window: 200000, max_output_tokens: 64000, groups: [default],
      prices: [{ from_prompt_tokens: 0, input: 1, output: 10 }] }`,
  )
  .join('')}
channels:
  - { name: native, protocol: responses, base_url: "${url}", query: { version: "1" }, credentials: [secret],
      models: { native: vendor-m }, flags: { websocket: true } }
  - { name: plain, protocol: responses, base_url: "${url}", credentials: [secret], models: { plain: vendor-m } }
  - { name: hasty, protocol: responses, base_url: "${url}", credentials: [secret], models: { hasty: vendor-m },
      flags: { websocket: true }, timeouts: { first_event_ms: 200, idle_ms: 200 } }
`;

const { until } = eventsAround(eventsIn('responses', { text: ['One', ' two'], usage: USAGE }), 'One');
const created = messagesOf(until).slice(0, 1);

describe('WebSockets to upstreams', () => {
  let relay: RelayApp;
  let sockets: ScriptedSockets;
  let caller: TestCaller;
  const start = (timings: Partial<RelayTimings> = {}): void => {
    beforeAll(async () => {
      relay = await RelayApp.startEmpty(timings);
      await relay.applyCatalog(catalog(relay.upstream.url));
      sockets = new ScriptedSockets(relay.upstream.server);
    });
    afterAll(() => relay.close());
    beforeEach(async () => (caller = await relay.caller({ credit: '1000' })));
    afterEach(() => {
      sockets.reset();
      relay.upstream.reset();
    });
  };
  const connect = socketClients(() => ({ url: relay.url, key: caller.key }));
  const rows = (count: number): Promise<StoredCall[]> =>
    eventually(async () => {
      const calls = await relay.calls(caller);
      expect(calls).toHaveLength(count);
      return calls;
    });
  /** Transport and outcome of each attempt of the only call, which was settled once. */
  const attempts = async (): Promise<string[]> => {
    const { id } = await relay.onlyCall(caller);
    await expectExact();
    const sql = 'SELECT transport, outcome FROM call_attempts WHERE call_id = $1 ORDER BY ordinal';
    const found = await relay.get(DataSource).query<{ transport: string; outcome: string }[]>(sql, [id]);
    return found.map(({ transport, outcome }) => `${transport} ${outcome}`);
  };
  const expectExact = async (): Promise<void> => {
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  };

  describe('carry calls over WebSocket', () => {
    start();

    it('with the credential, as messages whose events pass unchanged', async () => {
      const events = messagesOf(eventsIn('responses', { text: ['Hel', 'lo'], usage: USAGE }));
      sockets.script((_, connection) => connection.send(...events));
      const client = await connect({ 'openai-beta': 'responses_websockets=2026-02-06, other=1' });
      await client.respond({ ...HELLO, stream: true });
      expect(client.messages).toEqual(events);
      const { messages, headers, path } = await sockets.connection();
      expect(messages).toEqual([{ type: 'response.create', model: 'vendor-m', input: 'Hello' }]);
      expect(path).toBe('/v1/responses?version=1');
      expect(headers).toMatchObject({
        authorization: 'Bearer secret',
        'openai-beta': 'other=1, responses_websockets=2026-02-06',
        'user-agent': 'switchboard',
      });
      expect(headers).not.toHaveProperty('sec-websocket-extensions');
      expect(relay.upstream.requests).toEqual([]);
      expect(await attempts()).toEqual(['websocket succeeded']);
      expect(await relay.onlyCall(caller)).toMatchObject({ cost: COST, billing_basis: 'reported', channel: 'native' });
    });

    it('one after the other on one socket, and side by side on others', async () => {
      const client = await connect();
      for (const stream_id of ['a', 'a', 'b']) await client.respond({ ...HELLO, stream_id });
      expect(sockets.connections.map(({ messages }) => messages.length)).toEqual([2, 1]);
      expect(sockets.messages.every((message) => !('stream_id' in message))).toBe(true);
      await rows(3);
    });

    it('with line breaks in their JSON', async () => {
      const events = messagesOf(eventsIn('responses', { text: 'Hi' }));
      sockets.script((_, connection) => connection.send(...events.map((event) => JSON.stringify(event, null, 2))));
      const client = await connect();
      await client.respond(HELLO);
      expect(client.messages).toEqual(events);
    });

    it('unless the channel does not allow them, or the client uses HTTP', async () => {
      const client = await connect();
      await client.respond({ ...HELLO, model: 'plain' });
      await (await relay.post('/v1/responses', caller.key, aRequest('responses', HELLO))).text();
      expect([sockets.handshakes, relay.upstream.requests.length]).toEqual([[], 2]);
      expect((await rows(2)).map(({ transport }) => transport)).toEqual(['websocket', 'http']);
    });

    it('no faster than the client reads, without loss', async () => {
      // An event that is no output, and passes.
      const padding = { type: 'response.padding', padding: 'x'.repeat(128 * 1024) };
      const { before, from } = eventsAround(eventsIn('responses', { text: 'Hi' }), 'Hi');
      const count = 300;
      let sent = 0;
      const send = async ({ socket, send: next }: UpstreamConnection): Promise<void> => {
        for (; sent < count; sent += 1) {
          next(padding);
          while (socket.bufferedAmount > 0) await sleep(1);
        }
        next(...messagesOf(from));
      };
      sockets.script((_, connection) => {
        connection.send(...messagesOf(before));
        void send(connection);
      });
      const client = await connect();
      client.create(HELLO);
      await client.message('response.padding');
      client.socket.pause();
      await eventually(async () => {
        const sentBefore = sent;
        await sleep(300);
        expect(sent).toBe(sentBefore);
      });
      expect(sent).toBeLessThan(count);
      client.socket.resume();
      await eventually(() => expect(client.ofType('response.completed')).toHaveLength(1), TIMEOUT_MS);
      expect(client.ofType('response.padding')).toHaveLength(count);
      await rows(1);
    });
  });

  describe('keep conversations', () => {
    start();
    const answers = (): void => {
      let number = 0;
      sockets.script((message, connection) => {
        number += 1;
        respondWith({ id: `resp_${number}`, text: `answer ${number}`, usage: USAGE })(message, connection);
      });
    };
    const turns = async (client: Awaited<ReturnType<typeof connect>>, ...inputs: readonly string[]): Promise<void> => {
      let previous: unknown;
      for (const input of inputs) {
        const response = await client.respond({ ...UNSTORED, input, previous_response_id: previous });
        previous = response['id'];
      }
    };

    it('so that only what is new is sent', async () => {
      answers();
      await turns(await connect(), 'first', 'second', 'third');
      expect(sockets.messages).toEqual([
        { type: 'response.create', model: 'vendor-m', store: false, input: 'first' },
        { type: 'response.create', model: 'vendor-m', store: false, input: 'second', previous_response_id: 'resp_1' },
        { type: 'response.create', model: 'vendor-m', store: false, input: 'third', previous_response_id: 'resp_2' },
      ]);
      expect((await rows(3)).map(({ cost }) => cost)).toEqual([COST, COST, COST]);
      await expectExact();
    });

    it.each<[string, () => Promise<void>]>([
      [
        'the upstream has lost it',
        () => Promise.resolve(sockets.script(respondWith({ id: 'resp_9' }), rejectWith(400, NOT_FOUND))),
      ],
      [
        'the socket has ended',
        async () => {
          const { socket } = await sockets.connection();
          socket.close();
          await once(socket, 'close');
          sockets.script(respondWith({ id: 'resp_9' }));
        },
      ],
    ])('until %s: then the whole conversation is sent, and charged once', async (_, lose) => {
      answers();
      const client = await connect();
      await turns(client, 'first', 'second');
      await lose();
      await client.respond({ ...UNSTORED, input: 'third', previous_response_id: 'resp_2' });
      const sent = sockets.messages.at(-1);
      expect(sent).not.toHaveProperty('previous_response_id');
      const order = ['first', 'answer 1', 'second', 'answer 2', 'third'].map((text) =>
        JSON.stringify(sent).indexOf(`"${text}"`),
      );
      expect(order).toEqual(order.toSorted((one, other) => one - other));
      expect(order[0]).toBeGreaterThan(0);
      await rows(3);
      await expectExact();
    });

    it('of one lane each', async () => {
      answers();
      const client = await connect();
      const { id } = await client.respond({ ...UNSTORED, input: 'first', stream_id: 'a' });
      await client.respond({ ...UNSTORED, input: 'second', stream_id: 'b', previous_response_id: id });
      expect(sockets.messages[1]).not.toHaveProperty('previous_response_id');
      expect(JSON.stringify(sockets.messages[1])).toContain('answer 1');
    });
  });

  describe('lead to HTTP', () => {
    start();

    it('when the upstream refuses them, which is remembered', async () => {
      sockets.refusal = 404;
      relay.upstream.script(responseIn('responses', { usage: USAGE }));
      const client = await connect();
      await client.respond(HELLO);
      expect(await attempts()).toEqual(['websocket upstream_error', 'http succeeded']);
      expect(await relay.onlyCall(caller)).toMatchObject({ cost: COST, status: 'succeeded' });
      await client.respond(HELLO);
      expect(sockets.handshakes).toHaveLength(1);
      await rows(2);
    });
  });

  describe('end', () => {
    start({ socketRetryMs: 0 });
    const cut: SocketScript = (_, { socket }) => socket.terminate();

    it.each<[string, SocketScript, string]>([
      ['without a response', cut, 'upstream_error'],
      [
        'before content',
        (_, connection) => {
          connection.send(...created);
          connection.socket.close();
        },
        'upstream_truncated',
      ],
    ])('%s: the call goes over HTTP on the same channel, charged once', async (_, script, outcome) => {
      sockets.script(script);
      relay.upstream.script(responseIn('responses', { text: 'Hello there', usage: USAGE }));
      const client = await connect();
      await client.respond(HELLO);
      expect(client.ofType('response.created')).toHaveLength(1);
      expect(await attempts()).toEqual([`websocket ${outcome}`, 'http succeeded']);
      expect(await relay.onlyCall(caller)).toMatchObject({ cost: COST, channel: 'native' });
      // The next call tries again.
      sockets.script(respondWith());
      await client.respond(HELLO);
      expect(sockets.connections).toHaveLength(2);
    });

    it.each<[string, SocketScript]>([
      ['close', (_, { socket }) => socket.close()],
      ['error', (_, { send }) => send({ type: 'error', status: 500, error: { message: 'Broken.' } })],
      ['failure', (_, { send }) => send({ type: 'response.failed', response: { error: { message: 'Broken.' } } })],
      ['malformed message', (_, { send }) => send('{"type":')],
    ])('with a %s in the middle: failed, charged for what was used', async (_, script) => {
      sockets.script((message, connection) => {
        connection.send(...messagesOf(until));
        script(message, connection);
      });
      const client = await connect();
      client.create(HELLO);
      await client.message('response.failed');
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', billing_basis: 'partial', attempts: 1 });
      await expectExact();
      sockets.script(respondWith());
      await client.respond(HELLO);
    });

    it('with an error in place of a response: classified as over HTTP, and the socket goes on', async () => {
      const error = { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Slow down.' };
      sockets.script(respondWith(), rejectWith(429, error, { 'retry-after': '7' }));
      const client = await connect();
      client.create(HELLO);
      expect(await client.message('error')).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
      expect(await attempts()).toEqual(['websocket rate_limit_exceeded']);
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', billing_basis: 'free' });
      await client.respond(HELLO);
      expect(sockets.connections).toHaveLength(1);
    });

    it.each<[string, SocketScript]>([
      ['before the upstream responds', () => undefined],
      ['in the middle', (_, connection) => connection.send(...messagesOf(until))],
    ])('with their client %s: cancelled, charged for what was used', async (when, script) => {
      sockets.script(script);
      const client = await connect();
      client.create(HELLO);
      const connection = await sockets.connection();
      await eventually(() => expect(connection.messages).toHaveLength(1));
      if (when === 'in the middle') await client.message('response.output_text.delta');
      client.socket.terminate();
      await eventually(() => expect(connection.closed).toBeDefined());
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'cancelled', billing_basis: 'partial' });
      await expectExact();
    });

    it('with their idle client', async () => {
      const client = await connect();
      await client.respond(HELLO);
      const connection = await sockets.connection();
      await client.close();
      await eventually(() => expect(connection.closed).toBeDefined());
    });

    it.each<[string, SocketScript, string]>([
      ['start', () => undefined, 'error'],
      ['go on', (_, connection) => connection.send(...messagesOf(until)), 'response.failed'],
    ])('when a response does not %s in time', async (_, script, type) => {
      sockets.script(script);
      const client = await connect();
      client.create({ ...HELLO, model: 'hasty' });
      await client.message(type);
      expect(await attempts()).toEqual(['websocket timeout']);
      await eventually(async () => expect((await sockets.connection()).closed).toBeDefined());
      expect(relay.upstream.requests).toEqual([]);
    });

    it('without harm between calls', async () => {
      const client = await connect();
      await client.respond(HELLO);
      const [connection] = sockets.connections;
      connection!.send({ type: 'response.output_text.delta', delta: 'late' }, 'no JSON');
      await client.respond(HELLO);
      expect(JSON.stringify(client.messages)).not.toContain('late');
      expect(sockets.connections).toHaveLength(1);
    });
  });

  describe('live', () => {
    start({ pingMs: 100, socketMs: 2000 });

    it('while they answer pings', async () => {
      const client = await connect();
      await client.respond(HELLO);
      const connection = await sockets.connection();
      await eventually(() => expect(connection.pings).toBeGreaterThan(2));
      expect(connection.closed).toBeUndefined();
      // Nothing is read, so nothing is answered.
      connection.socket.pause();
      const { pings } = connection;
      await eventually(async () => {
        await client.respond(HELLO);
        expect(sockets.connections.length).toBeGreaterThan(1);
      });
      expect(connection.pings).toBe(pings);
    });

    it('no longer than the vendor allows', async () => {
      const client = await connect();
      await client.respond(HELLO);
      const connection = await sockets.connection();
      await eventually(() => expect(connection.closed).toBeDefined());
    });
  });
});
