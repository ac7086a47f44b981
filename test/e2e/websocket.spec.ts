import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { VENDORS } from '../conformance/protocols/index.js';
import { eventually } from '../support/eventually.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import type { StoredCall } from '../support/relay-app.js';
import {
  delay,
  endlessStream,
  errorResponse,
  eventsAround,
  eventsIn,
  gate,
  hang,
  type JsonObject,
  responseIn,
  sse,
  streamHead,
  WEATHER_CALL,
  waitFor,
} from '../support/scripted-upstream.js';
import { SocketClient, socketClients } from '../support/socket-client.js';

const VENDOR_IDS = VENDORS.map(({ id }) => id);
const HELLO = { model: 'over-responses', input: 'Hello' };
const USAGE = { prompt: 1000, completion: 200 };
/** 1000 tokens in at $1 per million, 200 out at $10. */
const COST = '3000000';

const textOf = ({ output }: JsonObject): string =>
  (output as { content?: { text: string }[] }[])
    .flatMap(({ content = [] }) => content.map(({ text }) => text))
    .join('');
const errorOf = (message: JsonObject): JsonObject => message['error'] as JsonObject;

describe('Responses over WebSocket', () => {
  const world = usePairsRelay();
  const connect = socketClients(() => ({ url: world.relay.url, key: world.caller.key }));

  const rows = (count: number): Promise<StoredCall[]> =>
    eventually(async () => {
      const calls = await world.relay.calls(world.caller);
      expect(calls).toHaveLength(count);
      return calls;
    });
  const expectExact = async (): Promise<void> => {
    expect(await world.relay.wallet(world.caller)).toMatchObject({ held: '0', holds: 0 });
    expect(await world.relay.ledger()).toEqual({ exact: true, differences: [] });
  };
  const bodies = (): JsonObject[] => world.relay.upstream.requests.map(({ json }) => json);

  it.each(VENDOR_IDS)('are events like those of a stream, and calls like any, over %s', async (upstream) => {
    world.relay.upstream.script(responseIn(upstream, { text: ['Hello ', 'there'], usage: USAGE }));
    const client = await connect();
    expect(textOf(await client.respond({ model: `over-${upstream}`, input: 'Hi' }))).toBe('Hello there');
    const types = client.messages.map(({ type }) => type);
    expect([...types.slice(0, 2), types.at(-1)]).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ]);
    expect(client.messages.some((message) => 'stream_id' in message)).toBe(false);
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({
      status: 'succeeded',
      stream: true,
      transport: 'websocket',
      protocol: 'responses',
      upstream_protocol: upstream,
      cost: COST,
      billing_basis: 'reported',
    });
    await expectExact();
  });

  it('send the same messages as the events of the stream over HTTP', async () => {
    const events = eventsIn('responses', { id: 'resp_same', text: ['Hel', 'lo'] });
    world.relay.upstream.script([streamHead(), sse(events)]);
    const client = await connect();
    await client.respond(HELLO);
    expect(client.messages).toEqual(events.filter(({ data }) => data !== '[DONE]').map(({ data }) => data));
    expect(bodies()).toEqual([{ stream: true, model: 'vendor-responses', input: 'Hello' }]);
    const { headers } = world.relay.upstream.requests[0] ?? { headers: {} };
    expect(Object.keys(headers).filter((name) => /openai-beta|upgrade|sec-websocket/.test(name))).toEqual([]);
  });

  it('work with the client of the vendor', async () => {
    world.relay.upstream.script(responseIn('messages', { text: 'Hello there' }));
    const openai = new OpenAI({ baseURL: world.url, apiKey: world.caller.key });
    const socket = new ResponsesWS(openai);
    try {
      socket.send({ type: 'response.create', model: 'over-messages', input: 'Hi', stream_id: 'main' });
      const types: string[] = [];
      for await (const event of socket) {
        if (event.type === 'error') throw event.error;
        if (event.type !== 'message') continue;
        types.push(event.message.type);
        expect(event.message).toMatchObject({ stream_id: 'main' });
        if (event.message.type === 'response.completed') break;
      }
      expect(types).toContain('response.output_text.done');
    } finally {
      socket.close();
    }
  });

  describe('continue responses that nothing stores', () => {
    it.each(VENDOR_IDS)('over %s: the upstream gets the whole conversation', async (upstream) => {
      const model = `over-${upstream}`;
      const client = await connect();
      const texts = ['first question', 'second question', 'third question'];
      let previous: unknown;
      for (const [index, input] of texts.entries()) {
        world.relay.upstream.script(responseIn(upstream, { id: `resp_${index}`, text: `answer ${index}` }));
        const response = await client.respond({ model, input, store: false, previous_response_id: previous });
        previous = response['id'];
      }
      const sent = JSON.stringify(bodies().at(-1));
      const order = ['first question', 'answer 0', 'second question', 'answer 1', 'third question'];
      const places = order.map((text) => sent.indexOf(text));
      expect(places).toEqual(places.toSorted((one, other) => one - other));
      expect(places[0]).toBeGreaterThan(0);
      expect(sent).not.toContain('previous_response_id');
      await rows(3);
    });

    it('on another lane too', async () => {
      const client = await connect();
      world.relay.upstream.script(responseIn('messages', { text: 'Yes.' }));
      const first = await client.respond({ model: 'over-messages', input: 'Hi', store: false, stream_id: 'a' });
      await client.respond({
        model: 'over-messages',
        input: 'And?',
        store: false,
        stream_id: 'b',
        previous_response_id: first['id'],
      });
      expect(JSON.stringify(bodies()[1])).toContain('Yes.');
      expect(client.messages.at(-1)).toMatchObject({ stream_id: 'b' });
    });

    it('only on their own connection, and not after a failed continuation', async () => {
      world.relay.upstream.script(responseIn('messages', { text: 'Yes.' }));
      const [client, other] = [await connect(), await connect()];
      const request = { model: 'over-messages', input: 'Hi', store: false };
      const { id } = await client.respond(request);
      const notFound = {
        status: 400,
        error: { code: 'previous_response_not_found', type: 'invalid_request_error', param: 'previous_response_id' },
      };
      other.create({ ...request, previous_response_id: id });
      expect(await other.message('error')).toMatchObject(notFound);

      client.create({ ...request, previous_response_id: id, max_output_tokens: 'many' });
      expect(await client.message('error')).toMatchObject({ status: 400, error: { param: 'max_output_tokens' } });
      client.create({ ...request, previous_response_id: id });
      expect(await client.message('error', 1)).toMatchObject(notFound);
    });

    it('up to 1 MiB', async () => {
      world.relay.upstream.script(responseIn('messages', { text: 'Yes.' }));
      const client = await connect();
      const request = { model: 'over-messages', store: false };
      const { id } = await client.respond({ ...request, input: 'long '.repeat(210_000) });
      client.create({ ...request, input: 'Go on', previous_response_id: id });
      expect(errorOf(await client.message('error'))).toMatchObject({ code: 'previous_response_not_found' });
    });

    it('while stored responses are found as over HTTP', async () => {
      world.relay.upstream.script(responseIn('messages', { text: 'Yes.' }));
      const { id } = await (await connect()).respond({ model: 'over-messages', input: 'Hi' });
      await (await connect()).respond({ model: 'over-messages', input: 'And?', previous_response_id: id });
      expect(JSON.stringify(bodies()[1])).toContain('Yes.');
    });
  });

  it('prepare input without generating: no upstream, no row, and a response to continue', async () => {
    world.relay.upstream.script(responseIn('messages', { text: 'Yes.' }));
    const client = await connect();
    const model = 'over-messages';
    for (const warmUp of [{ generate: false }, { prompt_cache_options: { prewarm: true } }]) {
      const { id, output } = await client.respond({ model, input: 'First', ...warmUp });
      expect(output).toEqual([]);
      expect(world.relay.upstream.requests).toHaveLength(0);
      await client.respond({ model, input: 'Second', store: false, previous_response_id: id });
      const sent = JSON.stringify(bodies()[0]);
      expect(sent.indexOf('First')).toBeGreaterThan(0);
      expect(sent.indexOf('Second')).toBeGreaterThan(sent.indexOf('First'));
      world.relay.upstream.reset();
      world.relay.upstream.script(responseIn('messages', { text: 'Yes.' }));
    }
    await rows(2);
    client.create({ model: 'nothing-like-it', input: 'First', generate: false });
    expect(errorOf(await client.message('error'))).toMatchObject({ code: 'model_not_found' });
  });

  describe('run on lanes', () => {
    it('side by side with different stream IDs, one after the other with the same', async () => {
      const open = gate();
      world.relay.upstream.script(({ json }) => [
        ...(JSON.stringify(json).includes('slow') ? [waitFor(open)] : []),
        responseIn('responses', { text: 'Done.' }),
      ]);
      const client = await connect();
      client.create({ ...HELLO, input: 'slow', stream_id: 'a' });
      client.create({ ...HELLO, input: 'behind', stream_id: 'a' });
      client.create({ ...HELLO, stream_id: 'b' });
      expect(await client.message('response.completed')).toMatchObject({ stream_id: 'b' });
      expect(bodies().map(({ input }) => input)).not.toContain('behind');
      open.open();
      expect(await client.message('response.completed', 2)).toMatchObject({ stream_id: 'a' });
      expect(
        bodies()
          .map(({ input }) => input)
          .at(-1),
      ).toBe('behind');
      expect(client.ofType('response.output_text.delta').every((event) => typeof event['stream_id'] === 'string')).toBe(
        true,
      );
      await rows(3);
      await expectExact();
    });

    it('of at most 32 names', async () => {
      const client = await connect();
      for (let lane = 0; lane < 33; lane += 1) client.create({ ...HELLO, stream_id: `lane ${lane}` });
      expect(await client.message('error')).toMatchObject({
        status: 400,
        stream_id: 'lane 32',
        error: { code: 'websocket_stream_limit_reached', param: 'stream_id' },
      });
      await client.message('response.completed', 31);
      await rows(32);
    });
  });

  describe('can be steered', () => {
    const steer = (id: unknown, input: unknown): JsonObject => ({
      type: 'response.steer',
      previous_response_id: id,
      input,
    });
    const runningId = async (client: SocketClient, number = 0): Promise<unknown> =>
      ((await client.message('response.created', number))['response'] as JsonObject)['id'];

    it('into a response that follows with the same settings', async () => {
      const open = gate();
      const { until, behind } = eventsAround(eventsIn('messages', { text: ['One', ' two'] }), 'One');
      world.relay.upstream.script([streamHead(), sse(until), waitFor(open), sse(behind)]);
      const client = await connect();
      const settings = { model: 'over-messages', instructions: 'Be brief.', store: false };
      client.create({ ...settings, input: 'Count.', stream_id: 'a' });
      const id = await runningId(client);
      client.send(steer(id, 'Only even numbers.'));
      const steered = { id: expect.stringMatching(/^steer_/), previous_response_id: id };
      expect(await client.message('response.steer.accepted')).toMatchObject({ steer: steered, stream_id: 'a' });
      open.open();
      await client.message('response.completed', 1);
      const sent = JSON.stringify(bodies()[1]);
      for (const text of ['Be brief.', 'Count.', 'One two', 'Only even numbers.']) expect(sent).toContain(text);
      expect(client.messages.at(-1)).toMatchObject({ stream_id: 'a' });
      await rows(2);
      await expectExact();
    });

    it('once the client has sent the outputs of its tools', async () => {
      const open = gate();
      const { until, behind } = eventsAround(eventsIn('messages', { toolCalls: [WEATHER_CALL] }), WEATHER_CALL.name);
      world.relay.upstream.script([streamHead(), sse(until), waitFor(open), sse(behind)]);
      const client = await connect();
      const tools = [{ type: 'function', name: WEATHER_CALL.name, parameters: { type: 'object', properties: {} } }];
      const request = { model: 'over-messages', tools, store: false };
      client.create({ ...request, input: 'Weather?' });
      const id = await runningId(client);
      client.send(steer(id, [{ role: 'user', content: [{ type: 'input_text', text: 'In Celsius.' }] }]));
      await client.message('response.steer.accepted');
      open.open();
      const pending = await client.message('response.steer.pending');
      const [required] = pending['required_input'] as JsonObject[];
      expect(required).toEqual({ type: 'function_call_output', call_id: expect.any(String), name: WEATHER_CALL.name });
      world.relay.upstream.script(responseIn('messages', { text: '20 °C' }));
      const { type, call_id } = required ?? {};
      await client.respond({ ...request, input: [{ type, call_id, output: 'warm' }], previous_response_id: id });
      const sent = JSON.stringify(bodies()[1]);
      for (const text of ['Weather?', 'In Celsius.', 'warm']) expect(sent).toContain(text);
    });

    it('only while it runs, with input of the user', async () => {
      world.relay.upstream.script(endlessStream('messages'));
      const client = await connect();
      client.create({ model: 'over-messages', input: 'Count.' });
      const id = await runningId(client);
      client.send(steer(id, [{ role: 'system', content: 'No.' }]));
      client.send(steer('resp_other', 'Stop.'));
      const codes = [await client.message('response.steer.failed'), await client.message('response.steer.failed', 1)];
      expect(codes.map((failed) => errorOf(failed)['code'])).toEqual(['invalid_input', 'response_not_found']);
      expect(codes[1]).toMatchObject({ steer: { previous_response_id: 'resp_other', input: 'Stop.' } });
    });
  });

  describe('report errors', () => {
    it.each<[string, JsonObject, JsonObject]>([
      [
        'an unknown model',
        { ...HELLO, model: 'x' },
        { status: 404, error: { code: 'model_not_found', param: 'model' } },
      ],
      ['missing input', { model: 'over-responses' }, { status: 400, error: { param: 'input' } }],
      ['background', { ...HELLO, background: true }, { status: 400, error: { param: 'background' } }],
      ['a stream ID of another type', { ...HELLO, stream_id: 1 }, { status: 400, error: { param: 'stream_id' } }],
    ])('of %s, and go on', async (_, request, error) => {
      const client = await connect();
      client.create(request);
      const reported = await client.message('error');
      expect(reported).toMatchObject(error);
      expect(reported['headers']).toMatchObject({ 'x-should-retry': 'false', 'x-request-id': expect.any(String) });
      await client.respond(HELLO);
    });

    it('of messages that are none', async () => {
      const client = await connect();
      client.socket.send('{"type": "response.create", ');
      client.send({ type: 'response.destroy' });
      expect(await client.message('error')).toMatchObject({ status: 400 });
      expect(errorOf(await client.message('error', 1))).toMatchObject({ param: 'type' });
      client.socket.send(Buffer.from('{}'), { binary: true });
      await eventually(() => expect(client.closed).toMatchObject({ code: 1003 }));
    });

    it('of an empty wallet with 402', async () => {
      const { key } = await world.relay.caller({ credit: '0' });
      const client = await SocketClient.open(world.relay.url, key);
      client.create({ ...HELLO, stream_id: 'a' });
      const error = { type: 'insufficient_quota', code: 'insufficient_quota' };
      expect(await client.message('error')).toMatchObject({ status: 402, error, stream_id: 'a' });
      await client.close();
    });

    it('of upstreams, after others were tried', async () => {
      world.relay.upstream.script(errorResponse('responses', 429));
      const client = await connect();
      client.create(HELLO);
      expect(await client.message('error')).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
      expect(await world.relay.onlyCall(world.caller)).toMatchObject({ status: 'failed', billing_basis: 'free' });
    });

    it.each(VENDOR_IDS)('in the middle of a response over %s as its stream does', async (upstream) => {
      const { until } = eventsAround(eventsIn(upstream, { text: ['One', ' two'] }), 'One');
      world.relay.upstream.script([streamHead(), sse(until)]);
      const client = await connect();
      client.create({ model: `over-${upstream}`, input: 'Count.' });
      await client.message('response.failed');
      expect(client.messages.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
      expect(await world.relay.onlyCall(world.caller)).toMatchObject({ status: 'failed', billing_basis: 'partial' });
      await expectExact();
      world.relay.upstream.script(responseIn(upstream));
      await client.respond({ model: `over-${upstream}`, input: 'Again.' });
    });
  });

  describe.each(VENDOR_IDS)('end with their client over %s', (upstream) => {
    const { until } = eventsAround(eventsIn(upstream, { text: ['One', ' two'] }), 'One');

    it.each([
      ['before the upstream responds', [hang()], 'sent'],
      ['before the first token', [streamHead(), delay(60_000)], 'sent'],
      ['in the middle', [streamHead(), sse(until), hang()], 'content'],
    ] as const)('%s: cancelled, charged for what was used', async (_, script, when) => {
      world.relay.upstream.script([...script]);
      const client = await connect();
      client.create({ model: `over-${upstream}`, input: 'Hello' });
      const request = await world.relay.upstream.nextRequest();
      if (when === 'content') await client.message('response.output_text.delta');
      client.socket.terminate();
      expect(await request.closed).toBe('left');
      expect(await world.relay.onlyCall(world.caller)).toMatchObject({
        status: 'cancelled',
        error_reason: 'context canceled',
        billing_basis: 'partial',
      });
      await expectExact();
    });
  });
});
