import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import {
  expectError,
  INVALID_REQUEST,
  INVALID_TOKEN,
  MODEL_NOT_FOUND,
  NOT_ALLOWED,
  type Situation,
} from '../support/api-errors.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  bytes,
  destroy,
  type ProtocolEndpoint,
  end,
  errorResponse,
  hang,
  head,
  jsonAnswer,
} from '../support/scripted-upstream.js';

const MESSAGES = '/v1/messages/count_tokens';
const RESPONSES = '/v1/responses/input_tokens';
const HI = [{ role: 'user', content: 'Hi' }];
const WEATHER = { type: 'object', properties: { city: { type: 'string', description: 'Where to look' } } };

/** What both protocols ask in the same words, as the upstream of either counts it and as it is counted here. */
const QUESTIONS: readonly (readonly [ProtocolEndpoint, string, object, object])[] = [
  ['messages', MESSAGES, { model: 'm', messages: HI }, { input_tokens: 9 }],
  ['responses', RESPONSES, { model: 'm', input: 'Hi' }, { object: 'response.input_tokens', input_tokens: 9 }],
];

describe('how many tokens a prompt has (case 116)', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => (relay = await RelayApp.start()));
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const ask = (path: string, body: object | string, headers = {}, key = caller.key): Promise<Response> =>
    relay.post(path, key, body, headers);
  const countOf = async (path: string, body: object): Promise<number> => {
    const response = await ask(path, body);
    expect(response.status).toBe(200);
    return ((await response.json()) as { input_tokens: number }).input_tokens;
  };

  describe.each(QUESTIONS)('asked in %s', (protocol, path, body, answer) => {
    it('is what an upstream of the protocol says, and all that it says', async () => {
      relay.upstream.script(jsonAnswer(200, { ...answer, extra: { original: 12 } }));
      const response = await ask(path, body);
      expect([response.status, await response.json()]).toEqual([200, { ...answer, extra: { original: 12 } }]);
      const { path: sent, json } = await relay.upstream.nextRequest();
      expect([sent, json]).toEqual([path, { ...body, model: 'vendor-m-2026' }]);
    });

    it.each([path.slice('/v1'.length), `/v1${path}`, `${path}/`, `${path}?beta=true`])(
      'may be asked at %s',
      async (form) => {
        expect(await (await ask(form, body)).json()).toEqual(answer);
        expect((await relay.upstream.nextRequest()).path).toBe(path);
      },
    );

    it.each([404, 405, 429, 401, 500, 501, 529])('is counted here when the upstream answers %i', async (status) => {
      relay.upstream.script(errorResponse(protocol, status));
      // What stands around one message, one word, and what begins the response.
      expect(await countOf(path, body)).toBe(4 + 1 + 3);
    });

    it('is counted here when the upstream says something else, or breaks off', async () => {
      for (const script of [
        jsonAnswer(200, { ok: true }),
        [head(200), bytes('no JSON'), end()],
        [head(200, { 'content-length': 100 }), bytes('{'), destroy('close')],
      ]) {
        relay.upstream.script(script);
        expect(await countOf(path, body)).toBe(8);
      }
    });

    it('is refused as the upstream refuses the request itself', async () => {
      relay.upstream.script(errorResponse(protocol, 400));
      const message = await expectError(protocol, await ask(path, body), INVALID_REQUEST);
      expect(message).toContain('Scripted error 400.');
    });

    it.each<[string, object | string, Situation, { param?: string; code?: string }]>([
      ['no JSON', '{', INVALID_REQUEST, {}],
      [
        'no model',
        { ...body, model: undefined },
        INVALID_REQUEST,
        { param: 'model', code: 'missing_required_parameter' },
      ],
      ['an unknown model', { ...body, model: 'nobody-knows' }, MODEL_NOT_FOUND, { param: 'model' }],
      ['a model of another group', { ...body, model: 'saver-only' }, MODEL_NOT_FOUND, { param: 'model' }],
    ])('is not said of %s', async (_, wrong, situation, expected) => {
      await expectError(protocol, await ask(path, wrong), situation, expected);
      expect(relay.upstream.requests).toHaveLength(0);
    });

    it('is not returned for a model that the key may not use, nor for an invalid key', async () => {
      const limited = await relay.caller({ models: ['free'] });
      await expectError(protocol, await ask(path, body, {}, limited.key), NOT_ALLOWED, { param: 'model' });
      await expectError(protocol, await ask(path, body, {}, 'sk-nobody'), INVALID_TOKEN);
    });

    it('costs nothing, not even a row, and is said to those who have nothing left', async () => {
      const poor = await relay.caller({ credit: '0' });
      expect((await ask(path, body, {}, poor.key)).status).toBe(200);
      expect(await relay.calls(poor)).toEqual([]);
    });
  });

  it('is counted here where no upstream speaks the protocol: every word, of the system within the talk as well', async () => {
    const base = { model: 'only-chat', messages: HI };
    const alone = await countOf(MESSAGES, base);
    expect(alone).toBe(8);
    const reported = [...HI, { role: 'system', content: 'Answer in French' }];
    expect(await countOf(MESSAGES, { ...base, messages: reported })).toBe(alone + 4 + 3);
    expect(await countOf(MESSAGES, { ...base, system: 'Answer in French' })).toBe(alone + 4 + 3);
    expect(await countOf(MESSAGES, { ...base, tools: [{ name: 'weather', input_schema: WEATHER }] })).toBeGreaterThan(
      alone + 10,
    );
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(4000) } };
    expect(await countOf(MESSAGES, { ...base, messages: [{ role: 'user', content: [image] }] })).toBeLessThan(2000);
    expect(await countOf(RESPONSES, { model: 'only-chat', instructions: 'Answer in French', input: 'Hi' })).toBe(15);
    expect(relay.upstream.requests).toHaveLength(0);
  });

  it('is known of prompts that no model could read', async () => {
    expect(
      await countOf(MESSAGES, { model: 'only-chat', messages: [{ role: 'user', content: 'word '.repeat(250_000) }] }),
    ).toBeGreaterThan(200_000);
  });

  it('is said to two dozen questions at once, as Claude Code asks them', async () => {
    const counts = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        countOf(MESSAGES, {
          model: 'only-chat',
          messages: [{ role: 'user', content: 'Hi '.repeat(index + 1).trim() }],
        }),
      ),
    );
    expect(counts).toEqual(Array.from({ length: 24 }, (_, index) => 4 + 3 + index + 1));
  });

  it('does not wait long for an upstream that says nothing', async () => {
    relay.upstream.script([hang()]);
    expect(await countOf(MESSAGES, { model: 'm', messages: HI })).toBe(8);
    expect(await (await relay.upstream.nextRequest()).closed).toBe('left');
  }, 15_000);

  it('is asked by the vendors’ own clients', async () => {
    const anthropic = new Anthropic({ baseURL: relay.url, apiKey: caller.key, maxRetries: 0 });
    expect(
      await anthropic.messages.countTokens({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
    ).toMatchObject({ input_tokens: 9 });
    const openai = new OpenAI({ baseURL: `${relay.url}/v1`, apiKey: caller.key, maxRetries: 0 });
    expect(await openai.responses.inputTokens.count({ model: 'm', input: 'Hi' })).toMatchObject({ input_tokens: 9 });
  });

  it('tells the upstream the version and the betas that the client named, and no more', async () => {
    const headers = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'token-counting-2024-11-01', 'x-odd': 'x' };
    await ask(`${MESSAGES}?beta=true&x=1`, { model: 'm', messages: HI }, headers);
    const { headers: sent, query } = await relay.upstream.nextRequest();
    expect(sent).toMatchObject({ 'anthropic-version': '2026-10-21', 'anthropic-beta': 'token-counting-2024-11-01' });
    expect(sent).not.toHaveProperty('x-odd');
    expect(String(query)).toBe('beta=true');
  });
});
