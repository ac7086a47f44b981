import {
  type Content,
  type GenerateContentConfig,
  type GenerateContentResponse,
  GoogleGenAI,
  Type,
} from '@google/genai';
import { VENDORS } from '../conformance/protocols/index.js';
import { PIXEL, usePairsRelay } from '../support/pairs-relay.js';
import {
  responseOf,
  type AnswerOptions,
  end,
  errorResponse,
  eventsAround,
  jsonAnswer,
  sse,
  streamHead,
  THOUGHT,
  TIME_CALL,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';

const USAGE = { prompt: 1000, cacheRead: 400, completion: 200, reasoning: 50 };
/** 600 × $1/M + 400 × $0.1/M + 200 × $10/M, in nanos. */
const COST = '2640000';
const COUNTS = { promptTokenCount: 1000, cachedContentTokenCount: 400, totalTokenCount: 1200 };

const config: GenerateContentConfig = {
  systemInstruction: 'Be brief.',
  maxOutputTokens: 2000,
  tools: [
    {
      functionDeclarations: [
        {
          name: 'get_weather',
          parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING, nullable: true } } },
        },
        { name: 'get_time', parametersJsonSchema: { type: 'object', properties: {} } },
      ],
    },
  ],
};
const QUESTION = 'What is the weather here? ☃ 😀';

const world = usePairsRelay({ preludeMs: 20_000 });

const google = (apiKey = world.caller.key): GoogleGenAI =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: world.relay.url } });

describe.each(VENDORS.map((vendor) => [vendor.id, vendor] as const))(
  'the SDK of Google over an upstream of %s',
  (upstream, vendor) => {
    const model = `over-${upstream}`;
    const script = (response: AnswerOptions): void =>
      world.relay.upstream.script(responseOf(vendor, { usage: USAGE, ...response }));
    /** Details are reported by vendors that have them. */
    const usage = vendor.lacks?.['usage of cached tokens'] === undefined ? COUNTS : { totalTokenCount: 1200 };

    async function expectCharge(): Promise<void> {
      expect(await world.relay.onlyCall(world.caller)).toMatchObject({
        status: 'succeeded',
        protocol: 'gemini',
        billing_basis: 'reported',
        cost: COST,
        prompt_tokens: '1000',
        cached_tokens: '400',
        completion_tokens: '200',
      });
      expect(await world.relay.wallet(world.caller)).toMatchObject({ balance: '999.99736', held: '0', holds: 0 });
    }

    it('gets a response with calls, and pays for it', async () => {
      script({ text: ['Let me ', 'see. ☃'], toolCalls: [WEATHER_CALL, TIME_CALL] });
      const response = await google().models.generateContent({ model, contents: QUESTION, config });
      expect(response.functionCalls).toEqual([
        { id: 'call_9', name: 'get_weather', args: { city: 'Oslo' } },
        { id: 'call_10', name: 'get_time', args: {} },
      ]);
      expect(textOf([response])).toBe('Let me see. ☃');
      expect(response.usageMetadata).toMatchObject(usage);
      await expectCharge();
    });

    it('gets the same as a stream, and pays for it', async () => {
      script({ text: ['Let me ', 'see. ☃'], toolCalls: [WEATHER_CALL, TIME_CALL] });
      const pieces = await readAll(google().models.generateContentStream({ model, contents: QUESTION, config }));
      expect(textOf(pieces)).toBe('Let me see. ☃');
      expect(pieces.flatMap(({ functionCalls }) => functionCalls ?? [])).toMatchObject([
        { id: 'call_9', name: 'get_weather', args: { city: 'Oslo' } },
        { id: 'call_10', name: 'get_time', args: {} },
      ]);
      expect(pieces.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
      expect(pieces.at(-1)?.usageMetadata).toMatchObject(usage);
      await expectCharge();
    });

    it('gets JSON of a schema', async () => {
      script({ text: '{"city":"Oslo"}' });
      const responseSchema = { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] };
      const response = await google().models.generateContent({
        model,
        contents: QUESTION,
        config: { responseMimeType: 'application/json', responseSchema },
      });
      expect(JSON.parse(response.text!)).toEqual({ city: 'Oslo' });
      const { body } = world.relay.upstream.requests.at(-1)!;
      expect(body.toString().toLowerCase()).toContain('"type":"object"');
      // Google's own types are understood by Google only.
      if (upstream !== 'gemini') expect(body.toString()).not.toContain('"OBJECT"');
    });

    it.each([
      ['whole', false],
      ['streamed', true],
    ])('goes on in a chat with calls, signed reasoning and an image: %s', async (_, stream) => {
      const chat = google().chats.create({ model, config: { ...config, thinkingConfig: { includeThoughts: true } } });
      const send = async (message: Content['parts'] & object): Promise<readonly GenerateContentResponse[]> =>
        stream ? readAll(chat.sendMessageStream({ message })) : [await chat.sendMessage({ message })];
      script({ reasoning: THOUGHT, toolCalls: [WEATHER_CALL] });
      const first = await send([{ text: QUESTION }, { inlineData: { mimeType: 'image/png', data: PIXEL } }]);
      expect(world.relay.upstream.requests.at(-1)!.body.toString()).toContain(PIXEL);
      expect(partsOf(first).filter(({ thought }) => thought === true)).not.toHaveLength(0);
      script({ text: 'Snow it is.' });
      const result = { functionResponse: { id: 'call_9', name: 'get_weather', response: { output: 'Snow.' } } };
      expect(textOf(await send([result]))).toBe('Snow it is.');
      const again = world.relay.upstream.requests.at(-1)!;
      expect(again.body.toString()).toContain('Snow.');
      expect(again.body.toString()).not.toMatch(/rly1\.|cmx5MS/);
      const mark = vendor.reasoningMark;
      if (mark !== undefined) expect(again.body.toString()).toContain(mark);
    });

    it('gets what it expects when a stream breaks', async () => {
      const { before } = eventsAround(vendor.events({ text: ['Hello ', 'there'] }), 'there');
      world.relay.upstream.script([streamHead(), sse(before), end()]);
      const pieces: GenerateContentResponse[] = [];
      const broken = async (): Promise<void> => {
        for await (const piece of await google().models.generateContentStream({ model, contents: QUESTION }))
          pieces.push(piece);
      };
      await expect(broken()).rejects.toMatchObject({ name: 'ApiError', status: 502 });
      expect(textOf(pieces)).toBe('Hello ');
      expect(await world.relay.onlyCall(world.caller)).toMatchObject({ status: 'failed', billing_basis: 'partial' });
    });

    it.each([
      [429, 429],
      [400, 400],
      [500, 502],
    ])('gets an ApiError for the upstream’s %i', async (status, expected) => {
      world.relay.upstream.script(errorResponse(vendor.id, status));
      const call = google().models.generateContent({ model, contents: QUESTION });
      await expect(call).rejects.toMatchObject({ name: 'ApiError', status: expected });
    });
  },
);

describe('the SDK of Google', () => {
  const contents = 'Hi';

  it('counts tokens, by an upstream or here', async () => {
    world.relay.upstream.script(jsonAnswer(200, { totalTokens: 7 }));
    expect(await google().models.countTokens({ model: 'over-gemini', contents })).toMatchObject({ totalTokens: 7 });
    expect(world.relay.upstream.requests.at(-1)).toMatchObject({ path: '/v1/models/vendor-gemini:countTokens' });
    // What is around one message, one word, and what begins the response.
    expect(await google().models.countTokens({ model: 'over-messages', contents })).toMatchObject({ totalTokens: 8 });
  });

  it('lists models in pages, and finds one', async () => {
    const names: unknown[] = [];
    for await (const { name } of await google().models.list({ config: { pageSize: 3 } })) names.push(name);
    expect(names).toEqual(expect.arrayContaining(['models/over-messages', 'models/vendor/with-slash']));
    expect(new Set(names).size).toBe(names.length);
    expect(await google().models.get({ model: 'over-gemini' })).toMatchObject({
      name: 'models/over-gemini',
      inputTokenLimit: 200_000,
      outputTokenLimit: 64_000,
    });
    await expect(google().models.get({ model: 'unknown' })).rejects.toMatchObject({ status: 404 });
  });

  it('gets an ApiError for a wrong key, an unknown model, an invalid request and no credit', async () => {
    const models = google().models;
    const ask = { model: 'over-gemini', contents };
    await expect(google(`sk-${'0'.repeat(48)}`).models.generateContent(ask)).rejects.toMatchObject({ status: 401 });
    await expect(models.generateContent({ ...ask, model: 'unknown' })).rejects.toMatchObject({ status: 404 });
    const maxOutputTokens = -1;
    await expect(models.generateContent({ ...ask, config: { maxOutputTokens } })).rejects.toMatchObject({
      status: 400,
    });
    const poor = await world.relay.caller({ credit: '0' });
    await expect(google(poor.key).models.generateContent(ask)).rejects.toMatchObject({ status: 402 });
    expect(world.relay.upstream.requests).toHaveLength(0);
  });
});

async function readAll(
  stream: Promise<AsyncGenerator<GenerateContentResponse>>,
): Promise<readonly GenerateContentResponse[]> {
  const pieces: GenerateContentResponse[] = [];
  for await (const piece of await stream) pieces.push(piece);
  return pieces;
}

const partsOf = (pieces: readonly GenerateContentResponse[]) =>
  pieces.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);

const textOf = (pieces: readonly GenerateContentResponse[]): string =>
  partsOf(pieces)
    .map(({ text, thought }) => (thought === true ? '' : (text ?? '')))
    .join('');
