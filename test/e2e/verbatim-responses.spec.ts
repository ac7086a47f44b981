import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  bytes,
  chatEvents,
  chunkEvery,
  type ProtocolEndpoint,
  encodeEvents,
  end,
  errorResponse,
  eventsIn,
  head,
  type Headers,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';
import { readData, readEvents } from '../support/stream-text.js';

const USAGE = { prompt: 1000, cacheRead: 400, completion: 200, reasoning: 50 };
/** 600 × $1/M + 400 × $0.1/M + 200 × $10/M. */
const CHARGED = { cost: '2640000', billing_basis: 'reported', prompt_tokens: '1000', completion_tokens: '200' };

/** Data as no serializer would write it: what an adapter must not touch. */
const ODD = String.raw`"member_of_tomorrow" : {"big":9007199254740993,"ratio":1.0,"hundred":1e2,"10":1,"2":2,"text":"\u00e9\/☃"}`;

/** Where a usual response is given a member that nobody knows. */
const withOddMember = (event: ScriptedEvent): ScriptedEvent =>
  typeof event.data === 'string' ? event : { ...event, data: JSON.stringify(event.data).replace('{', `{ ${ODD} , `) };

/** Events that nobody knows, which a stream may have between any two others. */
const ODD_EVENTS: Readonly<Record<ProtocolEndpoint, readonly ScriptedEvent[]>> = {
  'chat-completions': [{ data: `{"object":"chat.completion.chunk.of_tomorrow", ${ODD}, "choices":[]}` }],
  messages: [
    { event: 'event_of_tomorrow', data: `{"type":"event_of_tomorrow", ${ODD}}` },
    {
      event: 'content_block_delta',
      data: `{"type":"content_block_delta","index":0,"delta":{"type":"delta_of_tomorrow", ${ODD}}}`,
    },
  ],
  responses: [{ event: 'response.event_of_tomorrow', data: `{"type":"response.event_of_tomorrow", ${ODD}}` }],
};

/** Has a client of Chat Completions ask for usage itself, so that no chunk is hidden from it. */
const ASKS_FOR_USAGE = { stream_options: { include_usage: true } };

describe('a response of an upstream of the same protocol', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => (relay = await RelayApp.start()));
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  interface VerbatimResponse {
    readonly response: Response;
    readonly body: Buffer;
    readonly row: StoredCall;
  }

  async function ask(protocol: ProtocolEndpoint, script: Script, request: object = {}): Promise<VerbatimResponse> {
    relay.upstream.script(script);
    const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { ...request }));
    const body = Buffer.from(await response.arrayBuffer());
    return { response, body, row: await relay.onlyCall(caller) };
  }

  describe.each(PROTOCOLS)('%s', (protocol) => {
    const streaming = { stream: true, ...(protocol === 'chat-completions' && ASKS_FOR_USAGE) };
    const usual = (): ScriptedEvent[] =>
      protocol === 'chat-completions'
        ? chatEvents({ usage: USAGE, reasoning: 'Hm.', includeUsage: true })
        : eventsIn(protocol, { usage: USAGE, reasoning: 'Hm.' });

    it('comes down byte by byte, unknown members and events included (case 3)', async () => {
      const [first = { data: '' }, ...rest] = usual().map(withOddMember);
      // Behind the event that ends a response nothing may come but the marker.
      const between = (event: ScriptedEvent): readonly ScriptedEvent[] =>
        event.data === '[DONE]' ? [] : ODD_EVENTS[protocol];
      const events = [first, ...rest.flatMap((event) => [...between(event), event])];
      const script = [streamHead(), sse(events), end()];
      const { body, row } = await ask(protocol, script, streaming);
      expect(body.toString()).toBe(relay.upstream.lastSent.toString());
      expect(body.toString()).toContain('9007199254740993');
      expect(row).toMatchObject({ status: 'succeeded', ...CHARGED });
    });

    it('comes down byte by byte when it is not streamed either (case 3)', async () => {
      let text = '';
      const { body, response, row } = await ask(protocol, (request) => {
        text = `\n${JSON.stringify(wholeBody(protocol, request.json['model'] as string), undefined, 1).replace('{', `{ ${ODD} ,`)}\n\n`;
        return [head(200, { 'content-type': 'application/json; charset=utf-8' }), bytes(text), end()];
      });
      expect(body.toString()).toBe(text);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
      expect(row).toMatchObject({ status: 'succeeded', ...CHARGED });
    });

    it('has the headers of a stream, and those that say where the time went', async () => {
      const { response } = await ask(protocol, responseIn(protocol), { stream: true });
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        'server-timing': expect.stringMatching(/^admit;dur=\d+\.\d, upstream;dur=\d+\.\d, relay;dur=\d+\.\d$/),
      });
      for (const name of ['content-length', 'content-encoding', 'x-relay-warnings', 'x-relay-output-limit'])
        expect(response.headers.get(name)).toBeNull();
    });

    it('says where the time went when it is not streamed either', async () => {
      const slow = [
        head(200, { 'content-type': 'application/json' }),
        bytes(JSON.stringify(wholeBody(protocol, 'm'))),
        end(),
      ];
      const { response } = await ask(protocol, [{ type: 'delay', ms: 60 }, slow]);
      const [, admit, upstream, of] =
        /^admit;dur=([\d.]+), upstream;dur=([\d.]+), relay;dur=([\d.]+)$/.exec(
          response.headers.get('server-timing') ?? '',
        ) ?? [];
      expect(Number(admit)).toBeGreaterThan(0);
      expect(Number(upstream)).toBeGreaterThan(55);
      expect(Number(of)).toBeLessThan(Number(upstream) + 200);
    });

    const VENDOR_HEADERS: Headers = {
      'x-request-id': 'of-the-upstream',
      'request-id': 'of-the-upstream',
      'set-cookie': ['session=of-the-upstream', '__cf_bm=of-the-upstream'],
      server: 'of-the-upstream',
      via: '1.1 of-the-upstream',
      'alt-svc': 'h3=":443"; of-the-upstream',
      'cf-ray': 'of-the-upstream',
      'cf-cache-status': 'of-the-upstream',
      'strict-transport-security': 'max-age=1',
      'keep-alive': 'timeout=1234',
      'proxy-authenticate': 'of-the-upstream',
      'x-powered-by': 'of-the-upstream',
      'openai-organization': 'of-the-upstream',
      'openai-project': 'of-the-upstream',
      'openai-version': 'of-the-upstream',
      'openai-processing-ms': 'of-the-upstream',
      'anthropic-organization-id': 'of-the-upstream',
      'x-ratelimit-limit-requests': '10000',
      'x-ratelimit-remaining-tokens': '10000',
      'x-ratelimit-reset-tokens': '6m0s',
      'anthropic-ratelimit-requests-remaining': '10000',
      'x-codex-primary-used-percent': '10',
      'x-should-retry': 'of-the-upstream',
      'retry-after-ms': '1234567',
      'access-control-allow-origin': 'https://of-the-upstream.example',
      'x-envoy-upstream-service-time': '10',
      'content-disposition': 'of-the-upstream',
    };
    const KNOWN = new RegExp(
      '^(?:access-control-.*|connection|keep-alive|date|transfer-encoding|content-(?:type|length)|cache-control|x-accel-buffering|' +
        'server-timing|x-content-type-options|x-request-id|request-id|x-should-retry)$',
    );

    it.each([
      ['a stream', { stream: true }, 200, () => responseIn(protocol, { headers: VENDOR_HEADERS })],
      ['a whole answer', {}, 200, () => responseIn(protocol, { headers: VENDOR_HEADERS })],
      ['a refusal', {}, 400, () => errorResponse(protocol, 400, undefined, VENDOR_HEADERS)],
    ])("lets none of the upstream's headers through to the client: %s", async (_, request, status, script) => {
      const { response, row } = await ask(protocol, script(), request);
      expect(response.status).toBe(status);
      expect([...response.headers.keys()].filter((name) => !KNOWN.test(name))).toEqual([]);
      expect(JSON.stringify([...response.headers])).not.toMatch(/of-the-upstream|1234|10000/);
      expect(response.headers.get('x-request-id')).toBe(row.id);
      expect(response.headers.get('request-id')).toBe(row.id);
    });

    const ENCODINGS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };

    it.each(Object.entries(ENCODINGS))(
      'is decoded when the upstream sends it in %s all the same',
      async (encoding, encode) => {
        const events = encodeEvents(usual());
        const streamed = [streamHead({ 'content-encoding': encoding }), chunkEvery(50), bytes(encode(events)), end()];
        const stream = await ask(protocol, streamed, streaming);
        expect(stream.body.toString()).toBe(events.toString());
        expect(stream.response.headers.get('content-encoding')).toBeNull();
        expect(stream.row).toMatchObject({ status: 'succeeded', ...CHARGED });

        caller = await relay.caller();
        const text = JSON.stringify(wholeBody(protocol, 'm'));
        const packed = encode(Buffer.from(text));
        const whole = await ask(protocol, [
          head(200, {
            'content-type': 'application/json',
            'content-encoding': encoding,
            'content-length': packed.length,
          }),
          bytes(packed),
          end(),
        ]);
        expect(whole.body.toString()).toBe(text);
        expect(whole.response.headers.get('content-encoding')).toBeNull();
        expect(whole.row).toMatchObject({ status: 'succeeded', ...CHARGED });
      },
    );

    it('is understood when it is an error in gzip', async () => {
      const error = { error: { type: 'invalid_request_error', message: 'of a number that is too large' } };
      const packed = gzipSync(JSON.stringify(error));
      const { response, body } = await ask(protocol, [
        head(400, { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': packed.length }),
        bytes(packed),
        end(),
      ]);
      expect(response.status).toBe(400);
      expect(body.toString()).toContain('of a number that is too large');
    });

    it('is a failure of the upstream when its encoding is broken', async () => {
      const { response, row } = await ask(protocol, [
        head(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
        bytes('this is no gzip'),
        end(),
      ]);
      expect(response.status).toBe(protocol === 'messages' ? 500 : 502);
      expect(row).toMatchObject({ status: 'failed', error_reason: 'upstream_error', cost: '0' });
    });
  });

  it('of Messages keeps signatures, redacted thinking and server tools (case 4)', async () => {
    const blocks: [object, object[]][] = [
      [
        { type: 'thinking', thinking: '', signature: '' },
        [
          { type: 'thinking_delta', thinking: 'Hm.' },
          { type: 'signature_delta', signature: 'EqQBCkYIBxgCKkBzaWduZWQ+/=' },
        ],
      ],
      [{ type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix/LafPsn4a+/==' }, []],
      [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
        [{ type: 'input_json_delta', partial_json: '{"query":"x"}' }],
      ],
      [{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ encrypted_content: 'Eq+/=' }] }, []],
      [
        { type: 'text', text: '' },
        [
          { type: 'text_delta', text: 'Yes.' },
          { type: 'citations_delta', citation: { url: 'x' } },
        ],
      ],
    ];
    const [start, , ...rest] = eventsIn('messages', { text: '', usage: USAGE });
    const named = (data: { type: string }): ScriptedEvent => ({ event: data.type, data });
    const events = blocks.flatMap(([content_block, deltas], index) => [
      named({ type: 'content_block_start', index, content_block } as { type: string }),
      ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta } as { type: string })),
      named({ type: 'content_block_stop', index } as { type: string }),
    ]);
    const { body, row } = await ask('messages', [streamHead(), sse([start!, ...events, ...rest]), end()], {
      stream: true,
    });
    expect(body.toString()).toBe(relay.upstream.lastSent.toString());
    expect(row).toMatchObject({ status: 'succeeded', ...CHARGED });
  });

  describe('of Chat Completions', () => {
    it.each([undefined, { include_usage: false }])(
      'has its usage metered and hidden from a client that does not ask for it: %j (case 6)',
      async (stream_options) => {
        const { body, row } = await ask('chat-completions', responseIn('chat-completions', { usage: USAGE }), {
          stream: true,
          ...(stream_options && { stream_options }),
        });
        expect((await relay.upstream.nextRequest()).json['stream_options']).toEqual({ include_usage: true });
        const written = relay.upstream.lastSent.toString().split(/(?<=\n\n)/);
        const usage = written.filter((event) => event.includes('"choices":[]'));
        expect(usage).toHaveLength(1);
        expect(body.toString()).toBe(written.filter((event) => !usage.includes(event)).join(''));
        expect(body.toString()).not.toContain('prompt_tokens');
        expect(row).toMatchObject({ status: 'succeeded', ...CHARGED });
      },
    );

    it('has exactly one usage chunk, without choices, for a client that asks for it (case 7)', async () => {
      const { body, row } = await ask('chat-completions', responseIn('chat-completions', { usage: USAGE }), {
        stream: true,
        ...ASKS_FOR_USAGE,
      });
      expect(body.toString()).toBe(relay.upstream.lastSent.toString());
      const chunks = readData(body).filter((data) => data !== '[DONE]');
      const reporting = chunks.filter(({ usage }) => Boolean(usage));
      expect(reporting).toMatchObject([{ choices: [], usage: { prompt_tokens: 1000, completion_tokens: 200 } }]);
      expect(chunks.at(-1)).toBe(reporting[0]);
      expect(row).toMatchObject({ status: 'succeeded', ...CHARGED });
    });

    it.each(['on the chunk that ends the answer', 'on every chunk'])(
      'has usage that the upstream attaches %s metered and taken off (cases 6 and 92)',
      async (where) => {
        const usage = { prompt_tokens: 1000, completion_tokens: 200, prompt_tokens_details: { cached_tokens: 400 } };
        const plain = chatEvents({ text: ['Hel', 'lo'] });
        const attached = plain.map((event, index) => {
          if (typeof event.data === 'string' || (where !== 'on every chunk' && index !== plain.length - 2))
            return event;
          return { data: { ...event.data, usage } };
        });
        const { body, row } = await ask('chat-completions', [streamHead(), sse(attached), end()], { stream: true });
        const seen = readData(body).map((data) => {
          if (data === '[DONE]') return data;
          const { usage: shown, ...rest } = data;
          expect(shown ?? null).toBeNull();
          return rest;
        });
        expect(seen).toEqual(plain.map(({ data }) => data));
        expect(row).toMatchObject({ status: 'succeeded', ...CHARGED });
      },
    );
  });

  describe('ends as its protocol ends (cases 28 and 29)', () => {
    it('Chat Completions: one id, role and finish, [DONE] last, no event: line', async () => {
      const { body } = await ask('chat-completions', responseIn('chat-completions', { id: 'chatcmpl-7' }), {
        stream: true,
      });
      const events = readEvents(body);
      expect(events.at(-1)).toEqual({ event: undefined, data: '[DONE]' });
      expect(body.toString().match(/\[DONE\]/g)).toHaveLength(1);
      expect(body.toString()).not.toContain('event:');
      const chunks = readData(body).filter((data) => data !== '[DONE]');
      expect(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`)).size).toBe(1);
      expect(body.toString().match(/"role":"assistant"/g)).toHaveLength(1);
      expect(body.toString().match(/"finish_reason":"stop"/g)).toHaveLength(1);
    });

    it.each(['as it should be', 'with a [DONE] of another protocol'])(
      'Messages: message_stop, never [DONE]: %s',
      async (how) => {
        const foreign = how === 'as it should be' ? [] : [bytes('data: [DONE]\n\n')];
        const { body } = await ask('messages', [streamHead(), sse(eventsIn('messages')), foreign, end()], {
          stream: true,
        });
        expect(readEvents(body).at(-1)?.event).toBe('message_stop');
        expect(body.toString()).not.toContain('[DONE]');
        expect(readEvents(body).every(({ event, data }) => event === (JSON.parse(data) as { type: string }).type)).toBe(
          true,
        );
      },
    );

    it.each(['completed', 'incomplete'])('Responses: response.%s, then [DONE]', async (status) => {
      const stop = status === 'completed' ? 'end' : 'length';
      const { body, row } = await ask('responses', responseIn('responses', { stop }), { stream: true });
      const events = readEvents(body);
      expect(events.slice(-2).map(({ event, data }) => event ?? data)).toEqual([`response.${status}`, '[DONE]']);
      expect(row.status).toBe('succeeded');
    });
  });
});

function wholeBody(protocol: ProtocolEndpoint, model: string): object {
  if (protocol === 'chat-completions')
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 200,
        prompt_tokens_details: { cached_tokens: 400 },
        completion_tokens_details: { reasoning_tokens: 50 },
      },
    };
  if (protocol === 'messages')
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 600, cache_read_input_tokens: 400, output_tokens: 200 },
    };
  return {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model,
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }],
    usage: { input_tokens: 1000, input_tokens_details: { cached_tokens: 400 }, output_tokens: 200 },
  };
}
