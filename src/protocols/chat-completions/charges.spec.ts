import { type Call, type CallHead, NO_TOKENS, SseSplitter, type TokenUsage } from '../contract/index.js';
import { ChatCompletionsProtocol } from './protocol.js';
import { renderUsage } from './renderer.js';
import { ChatCompletionsUpstream } from './upstream.js';

const REQUEST = { method: 'POST', path: '/', query: '', headers: {} };

const USAGE = { prompt_tokens: 900, completion_tokens: 40 };
const upstream = new ChatCompletionsUpstream();

const headOf = (body: object): CallHead =>
  new ChatCompletionsProtocol()
    .headReader(REQUEST)
    .end({ bytes: Buffer.from(JSON.stringify({ model: 'm', messages: [], ...body })) });
const callOf = (body: object): Call => ({ head: headOf(body) }) as Call;

function wholeUsage(request: object, response: object): TokenUsage | undefined {
  const [signal] = upstream.verbatim.meterResponse(
    callOf(request),
    Buffer.from(JSON.stringify({ usage: USAGE, ...response })),
  );
  return signal?.type === 'usage' ? signal.usage : undefined;
}

function streamedUsage(request: object, delta: object): TokenUsage | undefined {
  const chunks = [
    { service_tier: 'priority', choices: [{ index: 0, delta, finish_reason: 'stop' }] },
    { service_tier: 'priority', choices: [], usage: USAGE },
  ];
  const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
  const meter = upstream.verbatim.meterStream(callOf(request));
  const signals = new SseSplitter().next(Buffer.from(text)).flatMap((event) => meter.next(event).signals);
  const last = signals.at(-1);
  return last?.type === 'usage' ? last.usage : undefined;
}

describe('outside content of Chat Completions requests', () => {
  it('detects files by ID, but not inline ones', () => {
    const withFile = (file: object): CallHead =>
      headOf({ messages: [{ role: 'user', content: [{ type: 'file', file }] }] });
    expect(withFile({ file_id: 'file_1' }).outside).toEqual({ previousResponseId: undefined });
    expect(withFile({ filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' }).outside).toBeUndefined();
    expect(headOf({ service_tier: 'flex', reasoning_effort: 'xhigh' })).toMatchObject({
      serviceTier: 'flex',
      effort: 'xhigh',
      outside: undefined,
    });
  });
});

describe('charged items of Chat Completions responses', () => {
  it('reports images and audio as parts of the totals', () => {
    const usage = {
      prompt_tokens: 900,
      prompt_tokens_details: { audio_tokens: 50, image_tokens: 200 },
      completion_tokens: 40,
      completion_tokens_details: { audio_tokens: 20, reasoning_tokens: 10 },
    };
    expect(wholeUsage({}, { usage })).toMatchObject({
      input: 900,
      imageInput: 200,
      audioInput: 50,
      output: 40,
      reasoning: 10,
      audioOutput: 20,
    });
  });

  it('reports the service tier', () => {
    expect(wholeUsage({}, { service_tier: 'priority' })?.serviceTier).toBe('priority');
    expect(wholeUsage({}, { service_tier: null })).not.toHaveProperty('serviceTier');
    expect(streamedUsage({}, { content: 'a' })?.serviceTier).toBe('priority');
  });

  it('counts one web search when enabled and cited', () => {
    const annotations = [{ type: 'url_citation', url_citation: { url: 'https://x' } }];
    const response = (found: readonly object[]): object => ({
      choices: [{ message: { content: '', annotations: found } }],
    });
    const allowed = { web_search_options: {} };
    expect(wholeUsage(allowed, response(annotations))?.toolUses).toEqual({ web_search: 1 });
    expect(wholeUsage(allowed, response([]))?.toolUses).toBeUndefined();
    expect(wholeUsage({}, response(annotations))?.toolUses).toBeUndefined();
    expect(streamedUsage(allowed, { content: 'a', annotations })?.toolUses).toEqual({ web_search: 1 });
    expect(streamedUsage(allowed, { content: '"annotations":[{' })?.toolUses).toBeUndefined();
  });
});

describe('cache writes and passes in Chat Completions usage', () => {
  it('distinguishes 12-hour cache writes', () => {
    const prompt_tokens_details = { cache_write_tokens: 500, cache_write_tokens_details: { ttl_12h_tokens: 300 } };
    const usage = wholeUsage({}, { usage: { ...USAGE, prompt_tokens_details } });
    expect(usage).toMatchObject({ input: 900, cacheWrite: 200, cacheWrite12h: 300 });
    expect(renderUsage(usage!)).toMatchObject({ prompt_tokens_details: { cache_write_tokens: 500 } });
  });

  it('includes passes in the totals', () => {
    const passes = [{ model: undefined, usage: { ...NO_TOKENS, input: 500, output: 60 } }];
    expect(renderUsage({ ...NO_TOKENS, input: 100, output: 10, passes })).toMatchObject({
      prompt_tokens: 600,
      completion_tokens: 70,
      total_tokens: 670,
    });
  });
});

describe('serving model of Chat Completions responses', () => {
  const model = 'vendor/other';
  const callWith = (role: string): Call =>
    ({ head: { ...headOf({}), demands: { models: [{ name: 'other', role }] } } }) as unknown as Call;
  const servedBy = (call: Call): (string | undefined)[] => {
    const [whole] = upstream.verbatim.meterResponse(call, Buffer.from(JSON.stringify({ usage: USAGE, model })));
    const chunk = { model, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE };
    const events = new SseSplitter().next(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`));
    const meter = upstream.verbatim.meterStream(call);
    const signals = [whole, ...events.flatMap((event) => meter.next(event).signals)];
    return signals.flatMap((signal) => (signal?.type === 'usage' ? [signal.usage.servedBy] : []));
  };

  it('is read only when the request names alternatives', () => {
    expect(servedBy(callWith('alternative'))).toEqual([model, model]);
    expect(servedBy(callWith('helper'))).toEqual([undefined, undefined]);
    expect(servedBy(callOf({}))).toEqual([undefined, undefined]);
  });
});
