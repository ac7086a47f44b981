import { expectIds } from '../support/api-errors.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  delay,
  end,
  errorResponse,
  type JsonObject,
  responseIn,
  sse,
  streamHead,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';
import { geminiEvents } from '../conformance/protocols/gemini/answers.js';

const HELLO = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const USAGE = { prompt: 1000, cacheRead: 400, completion: 200 };

const world = usePairsRelay({ keepAliveMs: 40, preludeMs: 20_000 });

const path = (method: string, model = 'over-gemini'): string => `/v1beta/models/${model}:${method}`;
const ask = (
  url: string,
  {
    headers = { 'x-goog-api-key': world.caller.key },
    body = HELLO,
    method = 'POST',
  }: { readonly headers?: Record<string, string>; readonly body?: object; readonly method?: string } = {},
): Promise<Response> =>
  fetch(`${world.relay.url}${url}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  });
const sent = () => world.relay.upstream.requests.at(-1)!;

describe.each(['gemini', 'messages'] as const)('a stream without alt=sse over an upstream of %s', (upstream) => {
  const stream = (): Promise<Response> => ask(path('streamGenerateContent', `over-${upstream}`));

  it('is a JSON array, charged as every stream', async () => {
    world.relay.upstream.script(
      responseIn(upstream, { text: ['one ', 'two'], toolCalls: [WEATHER_CALL], usage: USAGE }),
    );
    const response = await stream();
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const elements = (await response.json()) as readonly JsonObject[];
    const texts = elements.map((element) => JSON.stringify(element)).join('');
    expect(elements.length).toBeGreaterThan(2);
    expect(texts).toContain('one ');
    expect(texts).toContain('"functionCall"');
    expect(elements.at(-1)).toMatchObject({ usageMetadata: { totalTokenCount: 1200 } });
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({ status: 'succeeded', cost: '2640000' });
    expect(await world.relay.wallet(world.caller)).toMatchObject({ held: '0', holds: 0 });
  });

  it('stays a JSON array with keep-alives, and when it breaks', async () => {
    const events = responseIn(upstream, { text: ['one ', 'two'], usage: USAGE });
    world.relay.upstream.script([delay(200), events]);
    const alive = await (await stream()).text();
    expect(alive).toMatch(/^\n+\[/);
    expect(JSON.parse(alive)).not.toHaveLength(0);

    const piece = upstream === 'gemini' ? geminiEvents({ text: 'one ' }).slice(0, 1) : [];
    world.relay.upstream.script([streamHead(), sse(piece), delay(100), end()]);
    const response = await stream();
    const broken = (await response.json()) as JsonObject | readonly JsonObject[];
    const last = Array.isArray(broken) ? (broken as readonly JsonObject[]).at(-1) : broken;
    expect(last).toMatchObject({ error: { code: 502, status: 'INTERNAL' } });
  });
});

describe('requests in Google’s format', () => {
  it('pass to an upstream of the protocol as they are, with its model in the path', async () => {
    world.relay.upstream.script(responseIn('gemini', { text: 'Hi', usage: USAGE }));
    const body =
      '{"contents":[{"parts":[{"text":"Hello","x_unknown":9007199254740993}]}], "x_other": {"2":1.0,"10":[ ]}}';
    const response = await world.relay.post(`${path('streamGenerateContent')}?alt=sse`, world.caller.key, body);
    expect(response.headers.get('x-relay-warnings')).toBeNull();
    expect(await response.text()).toContain('"response-1"');
    expect(sent().body.toString()).toBe(body);
    expect([sent().path, sent().query.get('alt')]).toEqual(['/v1/models/vendor-gemini:streamGenerateContent', 'sse']);
  });

  it('name no other model to the upstream than that of the path', async () => {
    world.relay.upstream.script(responseIn('gemini', { text: 'Hi', usage: USAGE }));
    await ask(path('generateContent'), { body: { model: 'models/expensive', ...HELLO } });
    expect(sent().json).toEqual({ model: 'models/vendor-gemini', ...HELLO });
  });

  it.each(['generationConfig', 'generation_config'])(
    'have their limit lowered to what is affordable, in %s',
    async (config) => {
      // The prompt and about 100 tokens.
      const poor = await world.relay.caller({ credit: '0.0013' });
      for (const body of [HELLO, { ...HELLO, [config]: { temperature: 0.5 } }]) {
        world.relay.upstream.script(responseIn('gemini', { text: 'Hi', usage: { prompt: 1, completion: 1 } }));
        const response = await ask(path('generateContent'), { body, headers: { 'x-goog-api-key': poor.key } });
        const limit = Number(response.headers.get('x-relay-output-limit'));
        expect(limit).toBeGreaterThan(0);
        const { [config]: given = sent().json['generationConfig'] } = sent().json;
        expect(given).toMatchObject({ maxOutputTokens: limit });
      }
    },
  );

  it.each([
    ['a fraction', { generationConfig: { maxOutputTokens: 1.5 } }, 'generationConfig.maxOutputTokens'],
    ['both spellings', { generationConfig: {}, generation_config: {} }, 'generation_config'],
    [
      'both spellings of the limit',
      { generationConfig: { maxOutputTokens: 1, max_output_tokens: 9 } },
      'max_output_tokens',
    ],
    ['stored content', { tools: [{ fileSearch: { fileSearchStoreNames: ['x'] } }] }, 'tools[0].fileSearch'],
    ['a chosen model', { generationConfig: { routingConfig: {} } }, 'generationConfig.routingConfig'],
  ])('are rejected with %s', async (_, more, member) => {
    const response = await ask(path('generateContent'), { body: { ...HELLO, ...more } });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(member);
  });

  it('refer only to files and cached content of their own account', async () => {
    await world.relay.applyCatalog(`
models:
  - { name: unshared, context_window: 200000, max_output_tokens: 64000, prices: free }
channels:
  - { name: unshared, protocol: gemini, base_url: "${world.relay.upstream.url}", credentials: [x], models: [unshared] }
`);
    const file = (fileUri: string) => ({ contents: [{ parts: [{ fileData: { mimeType: 'image/png', fileUri } }] }] });
    const bodies: [JsonObject, number][] = [
      [{ ...HELLO, cachedContent: 'cachedContents/other' }, 404],
      [file('https://generativelanguage.googleapis.com/v1beta/files/other'), 404],
      [file('gs://bucket/file'), 404],
      [file('https://example.com/picture.png'), 200],
    ];
    for (const [body, status] of bodies) {
      world.relay.upstream.reset();
      world.relay.upstream.script(responseIn('gemini', { text: 'Hi' }));
      expect([body, (await ask(path('generateContent', 'unshared'), { body })).status]).toEqual([body, status]);
    }
  });
});

describe('the key of a Gemini client', () => {
  it.each([
    ['x-goog-api-key', () => ({ headers: { 'x-goog-api-key': world.caller.key } }), ''],
    ['Authorization', () => ({ headers: { authorization: `Bearer ${world.caller.key}` } }), ''],
    ['the query', () => ({ headers: {} }), 'KEY'],
  ] as const)('may be in %s, and goes no further', async (_, options, query) => {
    world.relay.upstream.script(responseIn('gemini', { text: 'Hi' }));
    const url = query === '' ? path('generateContent') : `${path('generateContent')}?key=${world.caller.key}`;
    expect((await ask(url, options())).status).toBe(200);
    expect(JSON.stringify([sent().rawHeaders, sent().path, [...sent().query]])).not.toContain(world.caller.key);
  });

  it('is not accepted in the query of other protocols', async () => {
    const url = `/v1/chat/completions?key=${world.caller.key}`;
    expect((await ask(url, { headers: {}, body: { model: 'm', messages: [] } })).status).toBe(401);
  });
});

describe('errors in Google’s format', () => {
  interface Wire {
    readonly error: {
      readonly code: number;
      readonly message: string;
      readonly status: string;
      readonly details: JsonObject[];
    };
  }

  async function expectGoogle(response: Response, code: number, status: string): Promise<Wire['error']> {
    const id = expectIds(response);
    const { error } = (await response.json()) as Wire;
    expect([response.status, error.code, error.status]).toEqual([code, code, status]);
    expect(error.message).toMatch(new RegExp(`\\(request id: ${id}\\)$`));
    expect(error.details).toContainEqual(expect.objectContaining({ requestId: id }));
    return error;
  }
  const wrong = { headers: { 'x-goog-api-key': `sk-${'0'.repeat(48)}` } };

  it('are what every address below /v1beta responds with, known or not', async () => {
    await expectGoogle(await ask(path('generateContent'), wrong), 401, 'UNAUTHENTICATED');
    await expectGoogle(await ask('/v1beta/unknown', wrong), 401, 'UNAUTHENTICATED');
    await expectGoogle(await ask('/v1beta/models', { ...wrong, method: 'GET' }), 401, 'UNAUTHENTICATED');
    await expectGoogle(await ask('/v1beta/unknown'), 404, 'NOT_FOUND');
    await expectGoogle(await ask(path('unknownMethod')), 404, 'NOT_FOUND');
    await expectGoogle(await ask(path('generateContent', 'none')), 404, 'NOT_FOUND');
    await expectGoogle(await ask(path('generateContent'), { method: 'PUT' }), 405, 'UNIMPLEMENTED');
  });

  it('name the member, and say when to retry', async () => {
    const invalid = await expectGoogle(await ask(path('generateContent'), { body: {} }), 400, 'INVALID_ARGUMENT');
    const [violation] = invalid.details.flatMap(({ fieldViolations }) => (fieldViolations as JsonObject[]) ?? []);
    expect(violation).toMatchObject({ field: 'contents' });

    world.relay.upstream.script(errorResponse('gemini', 429));
    const limited = await expectGoogle(await ask(path('generateContent')), 429, 'RESOURCE_EXHAUSTED');
    expect(limited.details).toContainEqual(
      expect.objectContaining({ retryDelay: expect.stringMatching(/^\d+s$/) as unknown }),
    );
  });

  it('are 402 without credit, which clients do not retry', async () => {
    const poor = await world.relay.caller({ credit: '0' });
    const response = await ask(path('generateContent'), { headers: { 'x-goog-api-key': poor.key } });
    await expectGoogle(response, 402, 'RESOURCE_EXHAUSTED');
    expect(await world.relay.onlyCall(poor)).toMatchObject({ protocol: 'gemini', cost: '0' });
  });
});

describe('addresses of Gemini clients', () => {
  it.each([
    ['/v1/models/over-gemini:generateContent'],
    ['/v1/v1beta/models/over-gemini:generateContent'],
    ['/v1alpha/models/over-gemini:generateContent'],
    ['/models/over-gemini:generateContent'],
    ['/v1beta/models/over%2Dgemini:generateContent/'],
  ])('may be %s', async (url) => {
    world.relay.upstream.script(responseIn('gemini', { text: 'Hi' }));
    expect((await ask(url)).status).toBe(200);
  });

  it('may contain models with slashes, raw and encoded', async () => {
    for (const model of ['vendor/with-slash', 'vendor%2Fwith-slash']) {
      world.relay.upstream.script(responseIn('messages', { text: 'Hi' }));
      const response = await ask(path('countTokens', model));
      expect([response.status, await response.json()]).toMatchObject([200, { totalTokens: 8 }]);
    }
  });
});
