import { aCall, aRequestLine, aTarget, listedModels, metered, refusalOf } from '../../../test/support/calls.js';
import { AppError } from '../../platform/shared/index.js';
import { RawJson } from '../contract/index.js';
import { GeminiProtocol } from './protocol.js';
import { jsonSchemaOf } from './schema.js';
import { GeminiVerbatim } from './verbatim.js';
import { wireSignature } from './wire.js';

const protocol = new GeminiProtocol();
const lane = new GeminiVerbatim();

const WHOLE = { path: '/v1beta/models/m:generateContent' };
const STREAM = { path: '/v1beta/models/m:streamGenerateContent' };
const CONTENTS = [{ role: 'user', parts: [{ text: 'Hello' }] }];

const headOf = (more: object, line = WHOLE) => aCall(protocol, { contents: CONTENTS, ...more }, line).head;

describe('the head of a Gemini request', () => {
  it('is read in either spelling', () => {
    for (const config of [
      { generationConfig: { maxOutputTokens: 9, candidateCount: 2, thinkingConfig: { thinkingLevel: 'HIGH' } } },
      { generation_config: { max_output_tokens: 9, candidate_count: 2, thinking_config: { thinking_level: 'high' } } },
    ])
      expect(headOf(config)).toMatchObject({ outputLimit: 9, choices: 2, effort: 'high', demands: undefined });
  });

  it.each([
    [{ thinkingBudget: 0 }, 'none'],
    [{ thinkingBudget: -1 }, undefined],
    [{ thinkingBudget: 9000 }, 'medium'],
    [{ thinkingLevel: 'THINKING_LEVEL_UNSPECIFIED' }, undefined],
  ])('has the effort of %j: %s', (thinkingConfig, effort) => {
    expect(headOf({ generationConfig: { thinkingConfig } }).effort).toBe(effort);
  });

  it.each([
    ['SERVICE_TIER_FLEX', 'flex'],
    ['priority', 'priority'],
    ['unspecified', undefined],
  ])('has the service tier of %s: %s', (serviceTier, tier) => {
    expect(headOf({ serviceTier }).serviceTier).toBe(tier);
  });

  it.each([['TEXT', 'AUDIO'], ['text', 'Audio'], []])('accepts output that has a price: %s %s', (...modalities) => {
    for (const config of [
      { generationConfig: { responseModalities: modalities } },
      { generation_config: { response_modalities: modalities } },
    ])
      expect(headOf(config).demands).toBeUndefined();
  });

  it.each([[['IMAGE']], [['TEXT', 'Image']], [['VIDEO']], ['IMAGE'], [[1]]])(
    'rejects output without a price: %j',
    (modalities) => {
      for (const config of [
        { generationConfig: { responseModalities: modalities } },
        { generation_config: { response_modalities: modalities } },
      ])
        expect(refusalOf(() => headOf(config)).message).toMatch(/only text and audio output have prices/);
    },
  );

  it('lists hosted tools with their fees, by either spelling', () => {
    const tools = [
      { functionDeclarations: [] },
      { google_search: {} },
      { codeExecution: {}, urlContext: {} },
      { x: {} },
    ];
    expect(headOf({ tools }).demands).toMatchObject({
      hostedTools: [
        { name: 'web_search', path: 'tools[1].google_search' },
        { name: 'code_execution', path: 'tools[2].codeExecution' },
        { name: 'web_fetch', path: 'tools[2].urlContext' },
      ],
      unknownMembers: ['tools[].x'],
    });
  });

  it('finds encoded media and images, and content outside the body', () => {
    const data = 'A'.repeat(400);
    const parts = [
      { inlineData: { mimeType: 'image/png', data } },
      { inline_data: { data, mime_type: 'application/pdf' } },
      { functionResponse: { name: 'f', response: {}, parts: [{ inlineData: { mimeType: 'audio/wav', data } }] } },
      { functionCall: { name: 'f', args: { inlineData: { mimeType: 'text/x', data } } } },
    ];
    const { size, outside } = headOf({ contents: [{ parts }] });
    expect([size.media?.map(({ kind }) => kind), size.images, outside]).toEqual([
      ['image', 'file', 'audio'],
      1,
      undefined,
    ]);
    const file = { file_data: { mime_type: 'image/png', file_uri: 'https://example.com/a.png' } };
    expect(headOf({ contents: [{ parts: [file] }] })).toMatchObject({ size: { images: 1 }, outside: {} });
    expect(headOf({ cachedContent: 'cachedContents/x' }).outside).toBeDefined();
  });
});

describe('the verbatim lane of Gemini', () => {
  const sentOf = (body: string, outputLimit?: number): string => {
    const request = lane.rewriteRequest(aCall(protocol, body, WHOLE), aTarget({ model: 'v', outputLimit }));
    return Buffer.concat(request.body.pieces()).toString();
  };

  it.each([
    ['{"contents":[]}', '{"generationConfig":{"maxOutputTokens":5},"contents":[]}'],
    ['{"contents":[],"generationConfig":{}}', '{"contents":[],"generationConfig":{"maxOutputTokens":5}}'],
    [
      '{"contents":[],"generation_config":{"seed":1}}',
      '{"contents":[],"generation_config":{"maxOutputTokens":5,"seed":1}}',
    ],
    [
      '{"contents":[],"generationConfig":{"max_output_tokens":9}}',
      '{"contents":[],"generationConfig":{"max_output_tokens":5}}',
    ],
    [
      '{"contents":[],"generationConfig":{"maxOutputTokens":3}}',
      '{"contents":[],"generationConfig":{"maxOutputTokens":3}}',
    ],
  ])('lowers the limit of %s', (body, sent) => {
    expect(sentOf(body, 5)).toBe(sent);
  });

  it('replaces reasoning sealed for other upstreams by the placeholder, and nothing else', () => {
    const body = (signature: string, text = 'rly1.'): string =>
      JSON.stringify({
        contents: [{ parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: signature }, { text }] }],
      });
    const seal = wireSignature('rly1.e30.c2VhbA');
    expect(sentOf(body(seal))).toBe(body('skip_thought_signature_validator'));
    expect(sentOf(body('c2lnbmVk', seal))).toBe(body('c2lnbmVk', seal));
  });

  const piece = (index: number, more: object, usage: object = {}): string =>
    `data: ${JSON.stringify({ candidates: [{ index, ...more }], usageMetadata: { promptTokenCount: 9, ...usage } })}\n\n`;

  it('waits for all candidates, and for the usage', () => {
    const body = { contents: CONTENTS, generationConfig: { candidateCount: 2 } };
    const meter = lane.meterStream(aCall(protocol, body, { ...STREAM, query: 'alt=sse' }));
    const text =
      piece(0, { content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }, { candidatesTokenCount: 1 }) +
      piece(
        1,
        { content: { parts: [{ text: 'b' }] }, finishReason: 'STOP' },
        { candidatesTokenCount: 2, serviceTier: 'FLEX' },
      );
    const { readings, signals, sent } = metered(meter, text);
    expect(readings.map(({ last }) => last)).toEqual([false, true]);
    expect(signals.at(-1)).toMatchObject({ usage: { input: 9, output: 2, serviceTier: 'flex' } });
    expect(sent).toBe(text);
  });

  it('ends a blocked prompt without output', () => {
    const meter = lane.meterStream(aCall(protocol, { contents: CONTENTS }, { ...STREAM, query: 'alt=sse' }));
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 9 } };
    const { signals } = metered(meter, `data: ${JSON.stringify(blocked)}\n\n`);
    expect(signals).toEqual([{ type: 'usage', usage: expect.objectContaining({ input: 9, output: 0 }) as unknown }]);
    expect(meter.end()).toMatchObject({ last: true });
  });

  it('turns events into an array unless the client asks for events', () => {
    const meter = lane.meterStream(aCall(protocol, { contents: CONTENTS }, STREAM));
    const finish = piece(0, { finishReason: 'STOP' }, { candidatesTokenCount: 1 });
    const { sent } = metered(meter, piece(0, { content: { parts: [{ text: 'a' }] } }) + finish);
    expect(JSON.parse(sent)).toHaveLength(2);
    expect(meter.closed).toBe(true);
  });

  it('counts searches', () => {
    const call = aCall(protocol, { contents: CONTENTS }, WHOLE);
    const groundingMetadata = { webSearchQueries: ['a', 'b'] };
    const body = {
      candidates: [{ groundingMetadata }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 },
    };
    const signals = lane.meterResponse(call, Buffer.from(JSON.stringify(body)));
    expect(signals.at(-1)).toMatchObject({ usage: { toolUses: { web_search: 2 } } });
  });
});

describe('a Gemini stream', () => {
  it('is an array that stays valid when it breaks', () => {
    const call = aCall(protocol, { contents: CONTENTS }, STREAM);
    const error = new AppError('upstream_error', 'Broken.');
    const text = (tail: object): string => Buffer.from(protocol.renderStreamError(call, error, tail)).toString();
    expect(JSON.parse(text({}))).toMatchObject([{ error: { code: 502 } }]);
    expect(JSON.parse(`[{}${text({ first: {} })}`)).toMatchObject([{}, { error: { code: 502 } }]);
  });

  it('is a list of models in pages', () => {
    const page = (query: string) => protocol.renderModels(listedModels(5), aRequestLine({ query }));
    expect(page('')).toMatchObject({ models: { length: 5 } });
    expect(page('pageSize=2')).toMatchObject({ models: [{ name: 'models/m/0' }, {}], nextPageToken: '2' });
    expect(page('pageSize=2&pageToken=4')).toEqual({ models: [expect.objectContaining({ name: 'models/m/4' })] });
    expect(refusalOf(() => page('pageToken=x'))).toMatchObject({ details: { param: 'pageToken' } });
  });

  it('has errors in the words that clients match', () => {
    const said = (error: AppError) => protocol.renderError(error, 'req_1').body;
    expect(said(new AppError('context_length_exceeded', 'Too long.'))).toMatchObject({
      error: {
        message: expect.stringMatching(
          /^The input token count exceeds the maximum number of tokens allowed/,
        ) as unknown,
      },
    });
    const limited = new AppError('rate_limit_exceeded', 'Slower.', { retryAfterSeconds: 17 });
    expect(JSON.stringify(said(limited))).toContain('"retryDelay":"17s"');
  });
});

describe('schemas in Google’s format', () => {
  it.each([
    ['{"type":"object", "properties":{}}', '{"type":"object", "properties":{}}'],
    ['{"type":"STRING","format":"enum","enum":["a"]}', '{"type":"string","enum":["a"]}'],
    ['{"type":"STRING","nullable":true,"enum":["a"]}', '{"type":["string","null"],"enum":["a",null]}'],
    ['{"any_of":[{"type":"STRING"}],"nullable":true}', '{"anyOf":[{"type":"string"},{"type":"null"}]}'],
    [
      '{"type":"ARRAY","items":{"type":"NUMBER"},"max_items":"9"}',
      '{"type":"array","items":{"type":"number"},"maxItems":9}',
    ],
    [
      '{"type":"OBJECT","properties":{"type":{"type":"STRING"}}}',
      '{"type":"object","properties":{"type":{"type":"string"}}}',
    ],
  ])('become JSON Schema: %s', (written, expected) => {
    expect(jsonSchemaOf(new RawJson(written)).text).toBe(expected);
  });
});
