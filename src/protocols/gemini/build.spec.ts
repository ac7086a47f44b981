import { aTarget, refusalOf } from '../../../test/support/calls.js';
import { aContent, type Built, built } from '../../../test/support/translations.js';
import {
  type Call,
  type CallContent,
  type Part,
  RawJson,
  type Tool,
  TranslationWarnings,
  type Turn,
  type UpstreamTarget,
} from '../contract/index.js';
import { GeminiUpstream } from './upstream.js';

const upstream = new GeminiUpstream();
/** Only the content is used. */
const call = {} as Call;

const build = (
  content: Partial<CallContent>,
  target: Partial<UpstreamTarget> = {},
  warnings = new TranslationWarnings(false),
): Built => built(upstream, { call, content: aContent(content) }, { stream: false, ...target }, warnings);
const withFlags = (content: Partial<CallContent>, flags: UpstreamTarget['flags']): Built => build(content, { flags });
const refused = (content: Partial<CallContent>, flags: UpstreamTarget['flags'] = {}): unknown =>
  refusalOf(() => withFlags(content, flags)).details;
const placeOf = (target: Partial<UpstreamTarget>): string => {
  const { path, query } = upstream.buildRequest(
    { call, content: aContent(), warnings: new TranslationWarnings(false) },
    aTarget(target),
  );
  return `${path}?${query}`;
};

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ name, schema: undefined, path: 'tools[3]', ...more });

const HELLO = { role: 'user', parts: [{ text: 'Hello' }] };
const EMPTY_SCHEMA = { type: 'object', properties: {} };

describe('Gemini request building', () => {
  it('omits unset members', () => {
    expect(build({})).toEqual({
      body: { contents: [HELLO] },
      text: '{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      stopsSent: 0,
      warnings: undefined,
    });
  });

  it.each([
    ['gemini-x', false, '/models/gemini-x:generateContent?'],
    ['gemini-x', true, '/models/gemini-x:streamGenerateContent?alt=sse'],
    ['tunedModels/mine', false, '/tunedModels/mine:generateContent?'],
    ['publishers/google/models/gemini-x', true, '/publishers/google/models/gemini-x:streamGenerateContent?alt=sse'],
    ['odd?name#1', false, '/models/odd%3Fname%231:generateContent?'],
  ])('puts the model %s into the path (streamed: %s)', (model, stream, place) => {
    expect(placeOf({ model, stream })).toBe(place);
  });

  it('limits output by client, balance and model', () => {
    const limitOf = (outputLimit: number | undefined, affordable: number | undefined): unknown =>
      build({ outputLimit }, { outputLimit: affordable, maxOutputTokens: 1000 }).body['generationConfig'];
    expect(limitOf(undefined, undefined)).toBeUndefined();
    expect(limitOf(500, undefined)).toEqual({ maxOutputTokens: 500 });
    expect(limitOf(500, 20)).toEqual({ maxOutputTokens: 20 });
    expect(limitOf(undefined, 20)).toEqual({ maxOutputTokens: 20 });
    expect(limitOf(5000, undefined)).toEqual({ maxOutputTokens: 1000 });
    expect(build({ outputLimit: 5000 }, { maxOutputTokens: 1000 }).warnings).toBe('clamped:max_tokens');
  });

  it('puts the lead into the system instruction', () => {
    const lead = [
      { kind: 'text', text: 'Be brief.' },
      { kind: 'text', text: 'Be kind.' },
    ] as const;
    expect(build({ lead }).body['systemInstruction']).toEqual({ parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] });
  });

  describe('tools', () => {
    const schema = new RawJson('{"type":"object","properties":{"n":{"maximum":9007199254740993}},"$schema":"x"}');

    it("declares functions with the client's schema", () => {
      const { text: sent, body } = build({ tools: [tool('f', { description: 'Does f.', schema }), tool('g')] });
      expect(sent).toContain(
        '{"name":"f","description":"Does f.","parametersJsonSchema":{"type":"object","properties":{"n":{"maximum":9007199254740993}}}}',
      );
      expect(body['tools']).toEqual([
        { functionDeclarations: [expect.anything(), { name: 'g', parametersJsonSchema: EMPTY_SCHEMA }] },
      ]);
      expect(body).not.toHaveProperty('toolConfig');
    });

    it('maps function names consistently in declarations and history', () => {
      const tools = [tool('read', { namespace: 'disk' }), tool('2nd tool')];
      const called: Part = { kind: 'tool-call', id: 'a', name: 'read', namespace: 'disk', arguments: '{}' };
      const result: Part = { kind: 'tool-result', id: 'a', parts: [], isError: false };
      const turns: Turn[] = [
        { role: 'user', parts: [{ kind: 'text', text: 'A' }] },
        { role: 'assistant', parts: [called] },
        { role: 'user', parts: [result] },
      ];
      const { body } = build({ tools, turns });
      const [declared] = body['tools'] as [{ functionDeclarations: { name: string }[] }];
      const [first, second] = declared.functionDeclarations;
      expect(first?.name).toBe('disk__read');
      expect(second?.name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
      expect(JSON.stringify(body['contents']).match(/"name":"disk__read"/g)).toHaveLength(2);
    });

    it('describes freeform input', () => {
      const grammar = { syntax: 'lark', definition: 'start: "a"' };
      const { body, warnings } = build({ tools: [tool('patch', { description: 'Edits.', freeform: { grammar } })] });
      expect(body['tools']).toEqual([
        {
          functionDeclarations: [
            {
              name: 'patch',
              description: expect.stringContaining('start: "a"'),
              parametersJsonSchema: expect.objectContaining({ required: ['input'] }),
            },
          ],
        },
      ]);
      expect(warnings).toBe('in_words:tools[3]');
    });

    it.each<[CallContent['toolChoice'], object | undefined]>([
      [{ mode: 'auto' }, undefined],
      [{ mode: 'none' }, { mode: 'NONE' }],
      [{ mode: 'required' }, { mode: 'ANY' }],
      [
        { mode: 'required', allowed: ['g'] },
        { mode: 'ANY', allowedFunctionNames: ['g'] },
      ],
      [
        { mode: 'one', name: 'f' },
        { mode: 'ANY', allowedFunctionNames: ['f'] },
      ],
    ])('maps the choice %j', (toolChoice, functionCallingConfig) => {
      const { body } = build({ tools: [tool('f'), tool('g')], toolChoice });
      expect(body['toolConfig']).toEqual(functionCallingConfig && { functionCallingConfig });
      expect((body['tools'] as [{ functionDeclarations: unknown[] }])[0].functionDeclarations).toHaveLength(2);
    });

    it('sends only allowed tools when the model chooses', () => {
      const { body } = build({ tools: [tool('f'), tool('g')], toolChoice: { mode: 'auto', allowed: ['g'] } });
      expect(body['tools']).toEqual([{ functionDeclarations: [{ name: 'g', parametersJsonSchema: EMPTY_SCHEMA }] }]);
      expect(body).not.toHaveProperty('toolConfig');
    });

    it('warns that parallel calls cannot be disabled', () => {
      const serial = { parallelTools: false };
      expect(build({ tools: [tool('f')], ...serial }).warnings).toBe('unsupported_parameter:parallel_tool_calls');
      expect(build(serial).warnings).toBeUndefined();
      expect(build({ tools: [tool('f')], toolChoice: { mode: 'none' }, ...serial }).warnings).toBeUndefined();
    });

    it('enables web search if supported and no other tools are sent', () => {
      const hostedTools = [{ type: 'web_search', path: 'tools[0]' }];
      const searching = { hostedWebSearch: true };
      expect(withFlags({ hostedTools }, searching).body['tools']).toEqual([{ googleSearch: {} }]);
      expect(withFlags({ hostedTools, toolChoice: { mode: 'none' } }, searching).body).toEqual({ contents: [HELLO] });
      expect(withFlags({ hostedTools, tools: [tool('f')] }, searching).warnings).toBe('unsupported_tool:tools[0]');
      expect(refused({ hostedTools })).toMatchObject({ param: 'tools[0]' });
    });
  });

  describe('output formats', () => {
    const schema = new RawJson('{"type":"object","properties":{"n":{"const":1.0}}}');
    const format = { kind: 'schema', schema } as const;

    it("send the client's schema", () => {
      const { text: sent, body } = build({ format });
      expect(sent).toContain('"responseJsonSchema":{"type":"object","properties":{"n":{"const":1.0}}}');
      expect(body['generationConfig']).toMatchObject({ responseMimeType: 'application/json' });
      expect(build({ format: { kind: 'json' } }).body['generationConfig']).toEqual({
        responseMimeType: 'application/json',
      });
    });

    it.each([
      [{ structuredOutput: false }, []],
      [{ structuredOutput: 'alone' }, [tool('f')]],
    ])('are described if not supported: %j', (flags, tools) => {
      const { body, warnings } = withFlags({ format, tools }, flags);
      expect(body['systemInstruction']).toEqual({ parts: [{ text: expect.stringContaining(schema.text) }] });
      expect(body).not.toHaveProperty('generationConfig');
      expect(warnings).toBe('in_words:response_format');
    });

    it('are enforced only without tools if required', () => {
      const { body, warnings } = withFlags({ format }, { structuredOutput: 'alone' });
      expect(body['generationConfig']).toMatchObject({ responseJsonSchema: schema.value });
      expect(warnings).toBeUndefined();
    });
  });

  describe('sampling', () => {
    const sampling = { temperature: 0.5, topP: 0.9, topK: 40, seed: 7, presencePenalty: 0.5, frequencyPenalty: -0.5 };

    it('maps parameters', () => {
      const { body, warnings } = withFlags({ sampling }, { penalties: true });
      expect(body['generationConfig']).toEqual(sampling);
      expect(warnings).toBeUndefined();
    });

    it('omits penalties by default', () => {
      const { body, warnings } = build({ sampling });
      expect(body['generationConfig']).toEqual({ temperature: 0.5, topP: 0.9, topK: 40, seed: 7 });
      expect(warnings).toBe('unsupported_parameter:presence_penalty,unsupported_parameter:frequency_penalty');
    });

    it('omits unsupported parameters and warns if they have an effect', () => {
      const fixed = { samplingFixed: true, penalties: true };
      expect(withFlags({ sampling: { temperature: 0.5, topK: 40, presencePenalty: 1 } }, fixed)).toMatchObject({
        body: { contents: [HELLO] },
        warnings:
          'unsupported_parameter:temperature,unsupported_parameter:top_k,unsupported_parameter:presence_penalty',
      });
      const usual = { temperature: 1, topP: 1, presencePenalty: 0, frequencyPenalty: 0 };
      expect(withFlags({ sampling: usual }, fixed).warnings).toBeUndefined();
    });

    it('truncates seeds to 32 bits', () => {
      expect(build({ sampling: { seed: 2 ** 32 + 5 } }).body['generationConfig']).toEqual({ seed: 5 });
      expect(build({ sampling: { seed: 2 ** 31 } }).body['generationConfig']).toEqual({ seed: -(2 ** 31) });
    });

    it('drops logprobs with a warning', () => {
      expect(build({ sampling: { logitBias: new RawJson('{"1":2}'), topLogprobs: 2 } }).warnings).toBe(
        'unsupported_parameter:logit_bias,unsupported_parameter:logprobs',
      );
    });
  });

  it('sends as many stop sequences as the upstream accepts', () => {
    const stop = ['a', 'b', 'c', 'd', 'e', 'f'];
    expect(build({ stop })).toMatchObject({
      body: { generationConfig: { stopSequences: ['a', 'b', 'c', 'd', 'e'] } },
      stopsSent: 5,
    });
    expect(withFlags({ stop }, { stopMax: 0 })).toMatchObject({ body: { contents: [HELLO] }, stopsSent: 0 });
  });

  it('drops tiers of other vendors', () => {
    expect(build({ serviceTier: 'priority' }).warnings).toBe('unsupported_parameter:service_tier');
    expect(build({ serviceTier: 'default' }).warnings).toBeUndefined();
  });

  it('rejects any loss for a strict key', () => {
    const strict = new TranslationWarnings(true);
    const content = { tools: [tool('f')], parallelTools: false };
    expect(refusalOf(() => build(content, {}, strict)).details).toMatchObject({ param: 'parallel_tool_calls' });
  });

  it('builds a minimal probe request', () => {
    const { path, body } = upstream.probeRequest('gemini-x');
    expect(path).toBe('/models/gemini-x:generateContent');
    expect(JSON.parse(Buffer.concat(body.pieces()).toString())).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 1 },
    });
  });
});
