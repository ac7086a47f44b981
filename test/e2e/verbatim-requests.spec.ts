import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import type { ProtocolEndpoint, RecordedRequest } from '../support/scripted-upstream.js';

/** What a vendor may add tomorrow, and numbers and keys that `JSON.parse` and `JSON.stringify` would change. */
const FUTURE = `"member_of_tomorrow" : { "nested":[ {"a":{ }} ],"10":1,"2":2 , "big":9007199254740993 } ,"ratio": 1.0 ,"hundred":1e2`;
const SCHEMA = `{"type":"object","properties":{"10":{"const":9007199254740993},"2":{"enum":[1.0,1e2,1E+2,-0.0]}},"x-of-tomorrow":null}`;
const TEXT = String.raw`"H\u0065llo \"model\":\"m\" \/ ☃ \ud83d\ude00"`;

/** Requests as no serializer would write them, with unknown members, tool types and content parts. */
const ODD_REQUESTS: Readonly<Record<ProtocolEndpoint, string>> = {
  'chat-completions': `{ ${FUTURE},
    "messages": [ {"role":"user","content":[{"type":"text","text":${TEXT}},{"type":"hologram","depth":1.0}],"mood":"m"}],
    "tools":[ {"type":"telepathy","range":1e2}, {"type":"function","function":{"name":"m","parameters":${SCHEMA}}} ],
    "stream_options" : {"include_usage": true ,"of_tomorrow":1.0},
    "metadata":{"model":"m"}, "model" : "m" , "max_completion_tokens":1e2, "stream": $STREAM }\n`,
  messages: `{ ${FUTURE},
    "messages": [ {"role":"user","content":[{"type":"text","text":${TEXT}},{"type":"hologram","depth":1.0}],"mood":"m"}],
    "tools":[ {"type":"telepathy_20270101","name":"t","range":1e2}, {"name":"m","input_schema":${SCHEMA}} ],
    "metadata":{"model":"m"}, "model" : "m" , "max_tokens":1e2, "stream": $STREAM }\n`,
  responses: `{ ${FUTURE},
    "input": [ {"role":"user","content":[{"type":"input_text","text":${TEXT}},{"type":"hologram","depth":1.0}],"mood":"m"},
      {"type":"item_of_tomorrow","value":1.0} ],
    "tools":[ {"type":"telepathy","range":1e2}, {"type":"function","name":"m","parameters":${SCHEMA}} ],
    "metadata":{"model":"m"}, "model" : "m" , "max_output_tokens":1e2, "stream": $STREAM }\n`,
};

/** What clients and the proxies before them send along. */
const OF_THE_CLIENT = {
  cookie: 'session=of-the-client',
  'proxy-authorization': 'Basic b2YtdGhlLWNsaWVudA==',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-host': 'of-the-client.example',
  'x-real-ip': '203.0.113.7',
  forwarded: 'for=203.0.113.7',
  via: '1.1 of-the-client',
  te: 'trailers',
  connection: 'keep-alive, x-of-the-hop',
  'x-of-the-hop': 'of-the-client',
  'keep-alive': 'timeout=5',
  origin: 'https://of-the-client.example',
  referer: 'https://of-the-client.example',
  'user-agent': 'of-the-client/1.0',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'of-the-client',
  'x-stainless-lang': 'of-the-client',
  'openai-organization': 'of-the-client',
  'openai-project': 'of-the-client',
  'x-request-id': 'of-the-client',
  'idempotency-key': 'of-the-client',
  'content-type': 'text/plain; charset=utf-8',
};

describe('a request to an upstream of the same protocol', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    caller = await relay.caller({ credit: '1000' });
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  /** Posts and gives what arrived upstream. */
  async function sent(
    path: string,
    body: object | string,
    headers: Record<string, string> = {},
  ): Promise<RecordedRequest> {
    const response = await relay.post(path, caller.key, body, headers);
    const answer = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${answer}`);
    return relay.upstream.nextRequest();
  }

  describe.each(PROTOCOLS)('%s', (protocol) => {
    const path = PATHS[protocol];

    it.each(['true', 'false'])(
      'goes up byte by byte but for the model, unknown members, tools and parts included (cases 1, 2 and 5): stream %s',
      async (stream) => {
        const body = ODD_REQUESTS[protocol].replace('$STREAM', stream);
        const request = await sent(path, body);
        expect(request.body.toString()).toBe(body.replace('"model" : "m"', '"model" : "vendor-m-2026"'));
        expect(request.path).toBe(path);
        expect(request.headers['content-length']).toBe(String(request.body.length));
      },
    );

    it('changes the value of a model that is written in escapes, and no other byte (case 5)', async () => {
      const body = JSON.stringify(aRequest(protocol)).replace('"m"', String.raw`"\u006d"`);
      expect((await sent(path, body)).body.toString()).toBe(body.replace(String.raw`"\u006d"`, '"vendor-m-2026"'));
    });

    it('is not touched at all when the upstream knows the model under the same name (case 5)', async () => {
      await relay.applyCatalog(`
models: [{ name: same, context_window: 1000, max_output_tokens: 1000, prices: free }]
channels:
  - { name: same-${protocol}, protocol: ${protocol}, base_url: ${relay.upstream.url}, credentials: [x], models: [same] }`);
      const body = ODD_REQUESTS[protocol].replace('$STREAM', 'false').replace('"model" : "m"', '"model" : "same"');
      expect((await sent(path, body)).body.toString()).toBe(body);
    });

    it('goes up whole with megabytes of an image in it', async () => {
      const image = 'iVBORw0KGgo'.repeat(300_000);
      const body = JSON.stringify(aRequest(protocol, { attachment: { type: 'image', data: image } }));
      const { body: arrived } = await sent(path, body);
      expect(arrived.equals(Buffer.from(body.replace('"m"', '"vendor-m-2026"')))).toBe(true);
    });

    it("carries nothing of the client's but its body, and the channel's credential", async () => {
      const client = await RawClient.post({
        url: relay.url,
        path: `${path}?api_key=in-the-query&beta=false`,
        key: caller.key,
        body: aRequest(protocol),
        headers: { 'x-api-key': caller.key, 'api-key': caller.key, ...OF_THE_CLIENT },
      });
      await client.complete();
      const { rawHeaders, headers, query } = await relay.upstream.nextRequest();
      expect([...query.keys()]).toEqual([]);
      const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
      const credential = protocol === 'messages' ? 'x-api-key' : 'authorization';
      expect(names.toSorted()).toEqual(
        [
          'accept',
          'accept-encoding',
          ...(protocol === 'messages' ? ['anthropic-version'] : []),
          'connection',
          'content-length',
          'content-type',
          'host',
          'user-agent',
          credential,
        ].toSorted(),
      );
      const secret = `upstream-secret-of-${protocol}`;
      expect(headers).toMatchObject({
        [credential]: protocol === 'messages' ? secret : `Bearer ${secret}`,
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        connection: 'keep-alive',
      });
      expect(rawHeaders.join('\n')).not.toMatch(/of-the-client|203\.0\.113/);
      expect(rawHeaders.join('\n')).not.toContain(caller.key);
    });

    it.each([
      ['bearer', 'authorization', 'Bearer s3cret'],
      ['x-api-key', 'x-api-key', 's3cret'],
      ['api-key', 'api-key', 's3cret'],
      ['none', undefined, undefined],
    ])("puts the channel's credential where its upstream looks for it: %s", async (auth, header, value) => {
      await relay.applyCatalog(`
models: [{ name: by-${auth}, context_window: 1000, max_output_tokens: 1000, prices: free }]
channels:
  - name: ${auth}-${protocol}
    protocol: ${protocol}
    base_url: ${relay.upstream.url}
    auth: ${auth}
    ${auth === 'none' ? '' : 'credentials: [s3cret]'}
    headers: { X-Of-Channel: 'yes' }
    query: { api-version: '2026-11-01' }
    models: [by-${auth}]`);
      const { headers, query } = await sent(path, aRequest(protocol, { model: `by-${auth}` }));
      const { authorization, 'x-api-key': apiKey, 'api-key': azureKey } = headers;
      const carried = Object.entries({ authorization, 'x-api-key': apiKey, 'api-key': azureKey });
      expect(carried.filter(([, held]) => held !== undefined)).toEqual(header === undefined ? [] : [[header, value]]);
      expect(headers['x-of-channel']).toBe('yes');
      expect([...query]).toEqual([['api-version', '2026-11-01']]);
    });

    it('asks for a stream when the client does, whatever the client says it accepts', async () => {
      const streamed = await sent(path, aRequest(protocol, { stream: true }), { accept: 'application/json' });
      expect(streamed.headers.accept).toBe('text/event-stream');
      const whole = await sent(path, aRequest(protocol), { accept: 'text/event-stream' });
      expect(whole.headers.accept).toBe('application/json');
    });
  });

  describe('chat-completions', () => {
    /** Where `sent` has something that `original` has not; undefined when they differ in any other way. */
    function insertion(original: string, changed: string): string | undefined {
      let at = 0;
      while (at < original.length && original[at] === changed[at]) at += 1;
      const length = changed.length - original.length;
      return changed.endsWith(original.slice(at)) ? changed.slice(at, at + length) : undefined;
    }
    const withModel = (body: string): string => body.replace('"m"', '"vendor-m-2026"');

    it('is asked for its usage by one inserted member when the client does not ask (case 6)', async () => {
      const body = JSON.stringify(aRequest('chat-completions', { stream: true, 10: 1, seed: 1 }), undefined, 1);
      const arrived = (await sent(PATHS['chat-completions'], body)).body.toString();
      expect(insertion(withModel(body), arrived)?.replaceAll(/[\s,]/g, '')).toBe(
        '"stream_options":{"include_usage":true}',
      );
      expect(JSON.parse(arrived)).toEqual({ ...JSON.parse(withModel(body)), stream_options: { include_usage: true } });
    });

    it.each([
      ['{}', '{"include_usage":true}'],
      ['null', '{"include_usage":true}'],
      ['{"include_usage":false}', '{"include_usage":true}'],
      [
        '{"include_obfuscation":false , "big":9007199254740993}',
        '{"include_usage":true,"include_obfuscation":false , "big":9007199254740993}',
      ],
    ])('keeps what else the client says about its stream: %s (case 6)', async (given, expected) => {
      const bodyWith = (options: string): string =>
        `{"model": "m","messages":[{"role":"user","content":"Hi"}] ,"stream":true, "stream_options":${options}, "n":1.0}`;
      const arrived = (await sent(PATHS['chat-completions'], bodyWith(given))).body.toString();
      expect(arrived).toBe(withModel(bodyWith(expected)));
    });

    it('is not asked for usage outside a stream (case 6)', async () => {
      const body = JSON.stringify(aRequest('chat-completions'));
      expect((await sent(PATHS['chat-completions'], body)).body.toString()).toBe(withModel(body));
    });
  });

  describe('messages', () => {
    const SIGNED = [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '', signature: 'EqQBCkYIBxgCKkBzaWduZWQ+/=' },
          { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix/LafPsn4a+/==' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
          {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_1',
            content: [{ type: 'web_search_result', encrypted_content: 'Eq==' }],
          },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, caller: { type: 'direct' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: false }] },
      { role: 'system', content: 'Be brief.' },
    ];

    it('keeps signatures, redacted thinking and server tools, and carries version, betas and ?beta (case 4)', async () => {
      const body = JSON.stringify(aRequest('messages', { messages: SIGNED, context_management: { edits: [] } }));
      const request = await sent('/v1/messages?beta=true', body, {
        'anthropic-version': '2026-10-21',
        'anthropic-beta': 'context-management-2026-06-27,beta-of-tomorrow-2027-01-01',
      });
      expect(request.body.toString()).toBe(body.replace('"model":"m"', '"model":"vendor-m-2026"'));
      expect(request.query.toString()).toBe('beta=true');
      expect(request.headers).toMatchObject({
        'anthropic-version': '2026-10-21',
        'anthropic-beta': 'context-management-2026-06-27,beta-of-tomorrow-2027-01-01',
      });
    });

    it.each([
      [
        'the vendor-neutral name of the version goes up under the usual one',
        { 'vendor-version': '2026-10-21' },
        '2026-10-21',
      ],
      [
        'the usual name wins over it',
        { 'vendor-version': '2026-10-21', 'anthropic-version': '2023-06-01' },
        '2023-06-01',
      ],
      ['a client that names none speaks 2023-06-01', {}, '2023-06-01'],
    ])('%s', async (_, headers, version) => {
      const request = await sent('/v1/messages', aRequest('messages'), headers as Record<string, string>);
      expect(request.headers['anthropic-version']).toBe(version);
      expect(request.headers['vendor-version']).toBeUndefined();
      expect(request.headers['anthropic-beta']).toBeUndefined();
    });
  });
});
