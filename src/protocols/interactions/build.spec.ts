import { refusalOf } from '../../../test/support/calls.js';
import { aContent, type Built, built } from '../../../test/support/translations.js';
import type { JsonObject } from '../../platform/shared/index.js';
import {
  type Call,
  type CallContent,
  type OpaqueReasoning,
  type Part,
  RawJson,
  type Tool,
  TranslationWarnings,
  type Turn,
  type UpstreamTarget,
} from '../contract/index.js';
import { InteractionsUpstream } from './upstream.js';

const upstream = new InteractionsUpstream();

const build = (
  content: Partial<CallContent>,
  target: Partial<UpstreamTarget> = {},
  warnings = new TranslationWarnings(false),
): Built => {
  const shown = { reasoning: { show: 'none' as const }, ...content };
  return built(upstream, { call: {} as Call, content: aContent(shown) }, { stream: false, ...target }, warnings);
};
const withFlags = (content: Partial<CallContent>, flags: UpstreamTarget['flags']): Built => build(content, { flags });
const refused = (content: Partial<CallContent>, flags: UpstreamTarget['flags'] = {}): unknown =>
  refusalOf(() => withFlags(content, flags)).details;
const configOf = ({ body }: Built): unknown => body['generation_config'];

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ name, schema: undefined, path: 'tools[3]', ...more });
const said = (text: string): Part => ({ kind: 'text', text });
const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
const model = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
const called = (id: string, args = '{}'): Part => ({ kind: 'tool-call', id, name: 'look', arguments: args });
const answered = (id: string, ...parts: readonly (Part & { kind: 'text' | 'image' })[]): Part => ({
  kind: 'tool-result',
  id,
  parts,
  isError: false,
});
const stepsOf = (turns: readonly Turn[], flags: UpstreamTarget['flags'] = {}): readonly JsonObject[] =>
  withFlags({ turns }, flags).body['input'] as readonly JsonObject[];

const HELLO = { type: 'user_input', content: [{ type: 'text', text: 'Hello' }] };
const SEARCH = { type: 'web_search', path: 'tools[0]' };

describe('Interactions request building', () => {
  it('omits unset members and stores nothing', () => {
    expect(build({})).toEqual({
      body: { model: 'm', input: [HELLO], store: false },
      text: '{"model":"m","input":[{"type":"user_input","content":[{"type":"text","text":"Hello"}]}],"store":false}',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      stopsSent: 0,
      warnings: undefined,
    });
  });

  it('stores nothing even if the key allows it', () => {
    expect(build({}, { mayStore: true }).body).toMatchObject({ store: false });
  });

  it.each(['flex', 'priority'])('requests the service tier %s, which the vendor has', (serviceTier) => {
    expect(build({ serviceTier })).toMatchObject({ body: { service_tier: serviceTier }, warnings: undefined });
  });

  it('rejects service tiers that the vendor lacks, and omits default ones', () => {
    expect(refused({ serviceTier: 'scale' })).toMatchObject({ param: 'service_tier' });
    expect(build({ serviceTier: 'standard' }).body).not.toHaveProperty('service_tier');
  });

  it('sends sampling only to models that accept it', () => {
    const sampling = { temperature: 0.2, topP: 0.9, seed: 2 ** 40 + 5 };
    expect(configOf(build({ sampling }))).toEqual({ temperature: 0.2, top_p: 0.9, seed: 5 });
    const fixed = withFlags({ sampling }, { samplingFixed: true });
    expect([configOf(fixed), fixed.warnings]).toEqual([
      { seed: 5 },
      'unsupported_parameter:temperature,unsupported_parameter:top_p',
    ]);
  });

  it('limits the output to what is affordable', () => {
    expect(configOf(build({ outputLimit: 500 }, { outputLimit: 90 }))).toEqual({ max_output_tokens: 90 });
  });

  it('leaves a second format to the prompt where tools exclude it', () => {
    const format = { kind: 'json' } as const;
    expect(build({ format }).body['response_format']).toEqual({ type: 'text', mime_type: 'application/json' });
    const { body, warnings } = withFlags({ format, tools: [tool('look')] }, { structuredOutput: 'alone' });
    expect([body['response_format'], warnings]).toEqual([undefined, 'in_words:response_format']);
    expect(body['system_instruction']).toContain('JSON');
  });
});

describe('Interactions reasoning requests', () => {
  const asked = (reasoning: Partial<CallContent['reasoning']>, flags: UpstreamTarget['flags']) => {
    const request = withFlags({ reasoning: { show: 'none', ...reasoning } }, flags);
    return [configOf(request), request.warnings];
  };

  it.each([
    ['by level', { effort: 'low' }, { reasoning: true }, { thinking_level: 'low' }, undefined],
    ['with summaries', { show: 'text' }, { reasoning: true }, { thinking_summaries: 'auto' }, undefined],
    [
      'by level for models with budgets',
      { budget: 5000 },
      { thinkingMode: 'budget' },
      { thinking_level: 'medium' },
      undefined,
    ],
    [
      'by the nearest level',
      { effort: 'max' },
      { reasoning: true },
      { thinking_level: 'high' },
      'substituted:reasoning_effort',
    ],
    [
      'as little as possible',
      { thinking: 'off' },
      { reasoning: true, efforts: ['minimal', 'low'] },
      { thinking_level: 'minimal' },
      'thinking_on:reasoning_effort',
    ],
    ['of no other model', { effort: 'high', show: 'text' }, {}, undefined, 'thinking_off:reasoning_effort'],
  ] as const)('asks for reasoning %s', (_, reasoning, flags, config, warnings) => {
    expect(asked(reasoning, flags)).toEqual([config, warnings]);
  });
});

describe('Interactions tools', () => {
  const tools = [tool('look'), tool('take')];

  it.each([
    [{ mode: 'none' }, 'none'],
    [{ mode: 'required' }, 'any'],
    [{ mode: 'one', name: 'take' }, { allowed_tools: { mode: 'any', tools: ['take'] } }],
    [{ mode: 'required', allowed: ['look'] }, { allowed_tools: { mode: 'any', tools: ['look'] } }],
  ] as const)('translates the choice %j', (toolChoice, choice) => {
    expect(configOf(build({ tools, toolChoice }))).toEqual({ tool_choice: choice });
  });

  it('offers only allowed tools when the model chooses', () => {
    const { body } = build({ tools, toolChoice: { mode: 'auto', allowed: ['take'] } });
    expect(body['tools']).toEqual([expect.objectContaining({ type: 'function', name: 'take' })]);
  });

  it('searches the web without functions only', () => {
    const searching = { hostedWebSearch: true };
    expect(withFlags({ hostedTools: [SEARCH] }, searching).body['tools']).toEqual([{ type: 'google_search' }]);
    expect(withFlags({ hostedTools: [SEARCH], toolChoice: { mode: 'none' } }, searching).body['tools']).toBeUndefined();
    expect(withFlags({ hostedTools: [SEARCH], tools }, searching).warnings).toBe('unsupported_tool:tools[0]');
    expect(refused({ hostedTools: [SEARCH] })).toMatchObject({ param: 'tools[0]' });
  });

  it('describes freeform tools as functions with one text', () => {
    const grammar = { syntax: 'lark', definition: 'start: "x"' };
    const { body, warnings } = build({ tools: [tool('exec', { freeform: { grammar } })] });
    expect(body['tools']).toMatchObject([{ type: 'function', name: 'exec', parameters: { required: ['input'] } }]);
    expect(warnings).toBe('in_words:tools[3]');
  });
});

describe('Interactions steps', () => {
  const signed = (family: string): Part => {
    const opaque: OpaqueReasoning = { kind: 'signature', family, data: 'QQ==', text: 'Look first.' };
    return { kind: 'reasoning', text: 'Look first.', opaque };
  };
  const ask = user(said('Go.'));
  const REASONS = { reasoning: true };

  it('puts signed thoughts back where they were', () => {
    const steps = stepsOf(
      [ask, model(signed('f'), said('Well.'), called('c1')), user(answered('c1', said('A door.') as never))],
      REASONS,
    );
    expect(steps.slice(1)).toEqual([
      { type: 'thought', signature: 'QQ==', summary: [{ type: 'text', text: 'Look first.' }] },
      { type: 'model_output', content: [{ type: 'text', text: 'Well.' }] },
      { type: 'function_call', id: 'c1', name: 'look', arguments: {} },
      { type: 'function_result', call_id: 'c1', name: 'look', result: 'A door.' },
    ]);
  });

  it('adds one placeholder to calls that another model made since the last user text', () => {
    const turn = (id: string) => [
      model(signed('other'), called(`${id}1`), called(`${id}2`)),
      user(answered(`${id}1`), answered(`${id}2`)),
    ];
    const typesOf = (flags: UpstreamTarget['flags']) =>
      stepsOf([ask, ...turn('a'), model(said('Done.')), ask, ...turn('b')], flags).flatMap(({ type, id, signature }) =>
        type === 'function_call' ? [id] : type === 'thought' ? [signature] : [],
      );
    expect(typesOf(REASONS)).toEqual(['a1', 'a2', 'skip_thought_signature_validator', 'b1', 'b2']);
    expect(typesOf({})).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  it('sends what results cannot contain after all results', () => {
    const picture = { kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'aW1n' } } as const;
    const turns = [ask, model(called('c1')), user(answered('c1', said('Here.') as never, picture), said('Go on.'))];
    const image = { type: 'image', data: 'aW1n', mime_type: 'image/png' };
    expect(stepsOf(turns).slice(2)).toEqual([
      { type: 'function_result', call_id: 'c1', name: 'look', result: 'Here.' },
      {
        type: 'user_input',
        content: [{ type: 'text', text: 'Image returned by tool call c1:' }, image, { type: 'text', text: 'Go on.' }],
      },
    ]);
    expect(stepsOf(turns, { resultMedia: true })[2]).toMatchObject({
      result: [{ type: 'text', text: 'Here.' }, image],
    });
  });

  it('sends any number of images of one result', () => {
    const image = { kind: 'image', source: { from: 'url', url: 'https://pictures.example/1' } } as const;
    const images = Array.from({ length: 100_000 }, () => image);
    const [, , , input] = stepsOf([ask, model(called('c1')), user(answered('c1', ...images))]);
    expect(input?.['content']).toHaveLength(200_000);
  });

  it('keeps arguments as written and wraps those that are no object', () => {
    const text = (args: string): string => build({ turns: [ask, model(called('c1', args))] }).text;
    expect(text('{"n":9007199254740993,"a":1}')).toContain('"arguments":{"n":9007199254740993,"a":1}');
    expect(text('oops')).toContain('"arguments":{"input":"oops"}');
  });

  it('sends files by the kind of their content', () => {
    const file = (mediaType: string): Part => ({ kind: 'file', source: { from: 'data', mediaType, base64: 'eA==' } });
    const parts = ['application/pdf', 'text/csv', 'image/png', 'audio/wav', 'video/mp4'].map((type) => file(type));
    const [{ content } = {}] = stepsOf([user(...parts)]);
    expect((content as readonly JsonObject[]).map(({ type }) => type)).toEqual([
      'document',
      'document',
      'image',
      'audio',
      'video',
    ]);
  });

  it('rejects URLs and audio where the model does not accept them', () => {
    const image: Part = { kind: 'image', source: { from: 'url', url: 'https://pictures.example/1' } };
    expect(stepsOf([user(image)])[0]).toMatchObject({
      content: [{ type: 'image', uri: 'https://pictures.example/1' }],
    });
    expect(refused({ turns: [user(image)] }, { imageUrl: false })).toMatchObject({ param: 'messages' });
    const audio: Part = { kind: 'audio', format: 'wav', base64: 'UklGRg==' };
    expect(refused({ turns: [user(audio)] })).toMatchObject({ param: 'messages' });
    expect(stepsOf([user(audio)], { audio: true })[0]).toMatchObject({
      content: [{ type: 'audio', mime_type: 'audio/wav' }],
    });
  });

  it('begins with the user, and ends with the user where the model demands it', () => {
    const { body, warnings } = build({ turns: [model(said('Hi.')), ask] });
    expect(body['input']).toMatchObject([{ type: 'user_input' }, { type: 'model_output' }, { type: 'user_input' }]);
    expect(warnings).toBe('user_message_inserted:messages');
    expect(stepsOf([ask, model(said('Once'))]).at(-1)).toMatchObject({ type: 'model_output' });
    expect(refused({ turns: [ask, model(said('Once'))] }, { prefill: false })).toMatchObject({ param: 'messages' });
  });

  it('keeps schemas as written', () => {
    const schema = new RawJson('{"type":"object","properties":{"10":{},"2":{}}}');
    expect(build({ tools: [tool('look', { schema })] }).text).toContain(`"parameters":${schema.text}`);
  });
});
