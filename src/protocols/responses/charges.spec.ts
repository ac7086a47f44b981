import { AppError } from '../../platform/shared/index.js';
import { type Call, type CallHead, NO_TOKENS, SseSplitter, type TokenUsage } from '../contract/index.js';
import { ResponsesProtocol } from './protocol.js';
import { ResponsesUpstream } from './upstream.js';
import { writeUsage } from './usage.js';

const REQUEST = { method: 'POST', path: '/', query: '', headers: {} };

const USAGE = { input_tokens: 900, output_tokens: 40 };
const upstream = new ResponsesUpstream();

const headOf = (body: object): CallHead =>
  new ResponsesProtocol()
    .headReader(REQUEST)
    .end({ bytes: Buffer.from(JSON.stringify({ model: 'm', input: '', ...body })) });
const outsideOf = (body: object): CallHead['outside'] => headOf(body).outside;

const aCall = (demands?: object): Call => ({ head: { ...headOf({}), demands } }) as unknown as Call;

function wholeUsage(response: object, call = aCall()): TokenUsage | undefined {
  const body = Buffer.from(JSON.stringify({ status: 'completed', usage: USAGE, output: [], ...response }));
  const [signal] = upstream.verbatim.meterResponse(call, body);
  return signal?.type === 'usage' ? signal.usage : undefined;
}

function streamedUsage(items: readonly object[], response: object, call = aCall()): TokenUsage | undefined {
  const events = [
    ...items.map((item) => ({ type: 'response.output_item.done', item })),
    { type: 'response.completed', response: { usage: USAGE, output: [], ...response } },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const meter = upstream.verbatim.meterStream(call);
  const signals = new SseSplitter().next(Buffer.from(text)).flatMap((event) => meter.next(event).signals);
  return signals.findLast(({ type }) => type === 'usage')?.type === 'usage'
    ? (signals.findLast(({ type }) => type === 'usage') as { usage: TokenUsage }).usage
    : undefined;
}

describe('outside content of Responses requests', () => {
  it('is absent when the prompt is complete', () => {
    expect(
      outsideOf({ input: [{ role: 'user', content: [{ type: 'input_text', text: 'file_id' }] }] }),
    ).toBeUndefined();
    expect(outsideOf({ previous_response_id: null, conversation: null })).toBeUndefined();
    const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' };
    expect(outsideOf({ input: [{ role: 'user', content: [file] }] })).toBeUndefined();
    // A schema property with that name is not a reference.
    const parameters = { type: 'object', properties: { file_id: { type: 'string' } } };
    expect(outsideOf({ tools: [{ type: 'function', name: 'f', parameters }] })).toBeUndefined();
  });

  it('is the continued response, by ID', () => {
    expect(outsideOf({ previous_response_id: 'resp_7' })).toEqual({ previousResponseId: 'resp_7' });
  });

  it.each([
    ['a conversation', { conversation: 'conv_1' }],
    ['a conversation as an object', { conversation: { id: 'conv_1' } }],
    ['a prompt template', { prompt: { id: 'pmpt_1' } }],
    ['an item by reference', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['an item by a reference in escapes', { input: [{ type: 'ESCAPED', id: 'msg_1' }] }],
    ['a file by id', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] }],
    ['a file by address', { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://x' }] }] }],
  ])('is %s, of unknown size, also with a continued response', (_, body) => {
    const read = (more: object): CallHead['outside'] => {
      const text = JSON.stringify({ model: 'm', input: '', ...body, ...more });
      const bytes = Buffer.from(text.replace('ESCAPED', '\\u0069tem_reference'));
      return new ResponsesProtocol().headReader(REQUEST).end({ bytes }).outside;
    };
    expect(read({})).toEqual({ previousResponseId: undefined });
    expect(read({ previous_response_id: 'resp_7' })).toEqual({ previousResponseId: undefined });
  });

  it('is found however the body is cut', () => {
    const bytes = Buffer.from(JSON.stringify({ model: 'm', input: [{ type: 'item_reference', id: 'msg_1' }] }));
    for (let cut = 1; cut < bytes.length; cut++) {
      const reader = new ResponsesProtocol().headReader(REQUEST);
      reader.next(bytes.subarray(0, cut));
      expect(reader.end({ bytes }).outside).toEqual({ previousResponseId: undefined });
    }
  });

  it('counts an image URL as an image', () => {
    const content = [{ type: 'input_image', image_url: 'https://example.com/a.png' }];
    const head = headOf({ input: [{ role: 'user', content }] });
    expect([head.size.images, head.outside]).toEqual([1, undefined]);
  });

  it('reads the service tier', () => {
    expect(headOf({ service_tier: 'flex' }).serviceTier).toBe('flex');
    expect(headOf({ service_tier: null }).serviceTier).toBeUndefined();
    expect(() => headOf({ service_tier: 5 })).toThrow(AppError);
  });
});

describe('charged items of Responses responses', () => {
  it('report images and audio as parts of the totals', () => {
    const usage = {
      input_tokens: 900,
      input_tokens_details: { cached_tokens: 100, image_tokens: 200, audio_tokens: 50 },
      output_tokens: 40,
      output_tokens_details: { reasoning_tokens: 10, audio_tokens: 20 },
    };
    expect(wholeUsage({ usage })).toMatchObject({
      input: 900,
      cacheRead: 100,
      imageInput: 200,
      audioInput: 50,
      output: 40,
      reasoning: 10,
      audioOutput: 20,
    });
  });

  it('report tier and ID', () => {
    expect(wholeUsage({ id: 'resp_1', service_tier: 'priority' })).toMatchObject({
      serviceTier: 'priority',
      responseId: 'resp_1',
    });
    expect(streamedUsage([], { id: 'resp_1', service_tier: 'flex' })).toMatchObject({
      serviceTier: 'flex',
      responseId: 'resp_1',
    });
  });

  const items = [
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'web_search_call', id: 'ws_2', status: 'completed' },
    { type: 'file_search_call', id: 'fs_1' },
    { type: 'code_interpreter_call', id: 'ci_1' },
    { type: 'image_generation_call', id: 'ig_1' },
    { type: 'function_call', name: 'web_search_call', arguments: '{"type":"web_search_call"}' },
    { type: 'custom_tool_call', input: '"type":"web_search_call"' },
    { type: 'message', content: [{ type: 'output_text', text: '"type":"web_search_call"' }] },
  ];
  const uses = { web_search: 2, file_search: 1, code_interpreter: 1, image_generation: 1 };

  it('count hosted tools, but not client tools', () => {
    expect(wholeUsage({ output: items })?.toolUses).toEqual(uses);
    expect(wholeUsage({ output: items.slice(5) })?.toolUses).toBeUndefined();
  });

  it.each<[object | null | undefined, object | undefined]>([
    [{ type: 'container_reference', container_id: 'cntr_1' }, { shell: 1 }],
    [{ type: 'container_auto' }, { shell: 1 }],
    [{ type: 'local' }, undefined],
    [null, undefined],
    [undefined, undefined],
  ])('count a shell with the environment %j as %j', (environment, expected) => {
    const output = [{ type: 'shell_call', id: 'sh_1', call_id: 'c', environment }];
    expect(wholeUsage({ output })?.toolUses).toEqual(expected);
    expect(streamedUsage(output, {})?.toolUses).toEqual(expected);
  });

  it('ignore items whose type is not a string', () => {
    const strange = { type: { toString: 1, valueOf: 1 }, of: { type: 'x_call' } };
    expect(wholeUsage({ output: [strange, ...items] })?.toolUses).toEqual(uses);
    expect(streamedUsage([strange, ...items], {})?.toolUses).toEqual(uses);
  });

  it('count tools once in a stream, whether or not its end repeats them', () => {
    expect(streamedUsage(items, { output: items })?.toolUses).toEqual(uses);
    expect(streamedUsage(items, { output: [] })?.toolUses).toEqual(uses);
    expect(streamedUsage([], { output: items })?.toolUses).toEqual(uses);
  });

  it('are not confused by repeated client data', () => {
    expect(wholeUsage({ instructions: items, output: [] })?.toolUses).toBeUndefined();
  });
});

describe('reported hosted tools', () => {
  const SEARCHES = [{ type: 'web_search_call' }, { type: 'web_search_call' }, { type: 'file_search_call' }];
  const IMAGES = {
    input_tokens: 1_000,
    input_tokens_details: { image_tokens: 700, text_tokens: 300 },
    output_tokens: 4_200,
    output_tokens_details: { image_tokens: 4_160, text_tokens: 40 },
    total_tokens: 5_200,
  };
  const both = (response: object): (TokenUsage | undefined)[] => [
    wholeUsage(response),
    streamedUsage((response as { output?: object[] }).output ?? [], response),
  ];

  it('count searches as billed, not as listed', () => {
    const tool_usage = { web_search: { num_requests: 1 } };
    for (const usage of both({ output: SEARCHES, tool_usage }))
      expect(usage?.toolUses).toEqual({ web_search: 1, file_search: 1 });
    for (const usage of both({ output: SEARCHES, tool_usage: { web_search: { num_requests: 0 } } }))
      expect(usage?.toolUses).toEqual({ file_search: 1 });
  });

  it.each([undefined, null, {}, { web_search: null }, { web_search: { num_requests: 'many' } }])(
    'count searches by items when the report is %j',
    (tool_usage) => {
      for (const usage of both({ output: SEARCHES, tool_usage }))
        expect(usage?.toolUses).toEqual({ web_search: 2, file_search: 1 });
    },
  );

  it('report tokens of generated images separately', () => {
    const imageGeneration = { textInput: 300, imageInput: 700, textOutput: 40, imageOutput: 4_160 };
    for (const usage of both({ tool_usage: { image_gen: IMAGES } }))
      expect(usage).toMatchObject({ input: 900, output: 40, imageGeneration });
  });

  it('treat prompt tokens without details as text, and output as images', () => {
    const { input_tokens, output_tokens } = IMAGES;
    const [usage] = both({ tool_usage: { image_gen: { input_tokens, output_tokens } } });
    expect(usage?.imageGeneration).toEqual({ textInput: 1_000, imageInput: 0, textOutput: 0, imageOutput: 4_200 });
    const [none] = both({ tool_usage: { image_gen: { input_tokens: 0, output_tokens: 0 } } });
    expect(none).not.toHaveProperty('imageGeneration');
  });

  it('distinguish 12-hour cache writes, also for clients', () => {
    const input_tokens_details = {
      cached_tokens: 100,
      cache_write_tokens: 500,
      cache_write_tokens_details: { ttl_12h_tokens: 300, ttl_30m_tokens: 200 },
    };
    const [usage] = both({ usage: { ...USAGE, input_tokens_details } });
    expect(usage).toMatchObject({ input: 900, cacheRead: 100, cacheWrite: 200, cacheWrite12h: 300 });
    expect(writeUsage(usage!)).toMatchObject({ input_tokens: 900, input_tokens_details });
  });

  it('include passes in the totals', () => {
    const passes = [{ model: 'large', usage: { ...NO_TOKENS, input: 500, output: 60, cacheRead: 50 } }];
    expect(writeUsage({ ...NO_TOKENS, input: 100, output: 10, passes })).toMatchObject({
      input_tokens: 600,
      input_tokens_details: { cached_tokens: 50 },
      output_tokens: 70,
      total_tokens: 670,
    });
  });
});

describe('serving model of Responses responses', () => {
  const model = 'vendor/other';

  it('is read when the request names alternatives', () => {
    const call = aCall({ models: [{ name: 'other', role: 'alternative' }] });
    expect([wholeUsage({ model }, call)?.servedBy, streamedUsage([], { model }, call)?.servedBy]).toEqual([
      model,
      model,
    ]);
    expect(wholeUsage({ model: null }, call)).not.toHaveProperty('servedBy');
  });

  it('is the requested one otherwise', () => {
    for (const call of [aCall(), aCall({ models: [{ name: 'other', role: 'helper' }] })])
      expect([wholeUsage({ model }, call)?.servedBy, streamedUsage([], { model }, call)?.servedBy]).toEqual([
        undefined,
        undefined,
      ]);
  });
});
