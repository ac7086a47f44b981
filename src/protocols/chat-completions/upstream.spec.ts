import { aCall, aTarget } from '../../../test/support/calls.js';
import type { UpstreamTarget } from '../contract/index.js';
import { ChatCompletionsProtocol } from './protocol.js';
import { ChatCompletionsUpstream } from './upstream.js';

const protocol = new ChatCompletionsProtocol();
const upstream = new ChatCompletionsUpstream();

const rewritten = (json: string, overrides: Partial<UpstreamTarget> = {}): string =>
  Buffer.concat(upstream.verbatim.rewriteRequest(aCall(protocol, json), aTarget(overrides)).body.pieces()).toString();

describe('verbatim Chat Completions requests', () => {
  it('leaves unknown members unchanged (case 1)', () => {
    const json =
      '{"model":"m","messages":[{"role":"user","content":[{"type":"hologram","x":{"y":null}}],"future":1}],"tools":[{"type":"telepathy"}],"unknown":{"nested":[]}}';
    expect(rewritten(json)).toBe(json);
  });

  it('leaves numbers, spaces and key order unchanged (case 2)', () => {
    const json =
      '{ "model" : "alias",\n "messages":[],"big":9007199254740993,"one":1.0,"hundred":1e2,"tools":[{"parameters":{"10":1,"2":2}}] }';
    expect(rewritten(json, { model: 'm' })).toBe(json.replace('"alias"', '"m"'));
  });

  it('only replaces the model (case 5)', () => {
    const json =
      '{"messages":[{"role":"user","content":"model alias, \\"model\\":\\"alias\\""}],"mod\\u0065l":"alias"}';
    expect(rewritten(json, { model: 'vendor/m "1"' })).toBe(
      '{"messages":[{"role":"user","content":"model alias, \\"model\\":\\"alias\\""}],"mod\\u0065l":"vendor/m \\"1\\""}',
    );
  });

  it.each([
    [
      '{"model":"m","messages":[],"stream":true}',
      '{"stream_options":{"include_usage":true},"model":"m","messages":[],"stream":true}',
    ],
    [
      '{"model":"m","messages":[],"stream":true,"stream_options":null}',
      '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"model":"m","messages":[],"stream":true,"stream_options":{}}',
      '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":false}}',
      '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"model":"m","messages":[],"stream":true,"stream_options":{"include_obfuscation":false}}',
      '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}',
    ],
  ])('requests usage of a stream: %s (case 6)', (json, expected) => {
    expect(rewritten(json)).toBe(expected);
  });

  it('does not request usage if already requested, unstreamed or unsupported (case 7)', () => {
    const asking = '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}';
    expect(rewritten(asking)).toBe(asking);
    expect(rewritten('{"model":"m","messages":[]}')).toBe('{"model":"m","messages":[]}');
    const streaming = '{"model":"m","messages":[],"stream":true}';
    expect(rewritten(streaming, { flags: { includeUsage: false } })).toBe(streaming);
  });

  it.each([
    ['{"model":"m","messages":[]}', {}, '{"max_tokens":20,"model":"m","messages":[]}'],
    [
      '{"model":"m","messages":[]}',
      { maxTokensField: 'max_completion_tokens' },
      '{"max_completion_tokens":20,"model":"m","messages":[]}',
    ],
    ['{"model":"m","messages":[],"max_tokens":null}', {}, '{"model":"m","messages":[],"max_tokens":20}'],
    ['{"model":"m","messages":[],"max_tokens":500}', {}, '{"model":"m","messages":[],"max_tokens":20}'],
    [
      '{"model":"m","messages":[],"max_completion_tokens":500}',
      {},
      '{"model":"m","messages":[],"max_completion_tokens":20}',
    ],
    [
      '{"model":"m","messages":[],"max_completion_tokens":500,"max_tokens":10}',
      {},
      '{"model":"m","messages":[],"max_completion_tokens":20,"max_tokens":10}',
    ],
  ])('lowers the output limit of %s with the flags %j', (json, flags, expected) => {
    expect(rewritten(json, { outputLimit: 20, flags })).toBe(expected);
  });

  it('forwards only named client headers', () => {
    const headers = { authorization: 'Bearer sk-client', cookie: 'a=b', 'openai-beta': 'x=1', 'x-stainless-os': 'y' };
    const sent = upstream.verbatim.rewriteRequest(
      aCall(protocol, '{"model":"m","messages":[]}', { headers, query: 'beta=true' }),
      aTarget(),
    );
    expect(sent).toMatchObject({ path: '/chat/completions', query: '' });
    expect(sent.headers).toEqual({
      'content-type': 'application/json',
      accept: 'application/json',
      'openai-beta': 'x=1',
    });
  });
});

describe('unstreamed Chat Completions metering', () => {
  const call = aCall(protocol, '{"model":"m","messages":[]}');
  const signals = (json: string): unknown => upstream.verbatim.meterResponse(call, Buffer.from(json));

  it('reads usage', () => {
    const json =
      '{"id":"chatcmpl-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":1},"completion_tokens_details":{"reasoning_tokens":1}}}';
    expect(signals(json)).toEqual([
      { type: 'usage', usage: { input: 9, cacheRead: 4, cacheWrite: 1, cacheWrite1h: 0, output: 2, reasoning: 1 } },
    ]);
  });

  it('estimates unreported output', () => {
    expect(signals('{"choices":[{"message":{"content":"twelve bytes"},"finish_reason":"stop"}],"usage":null}')).toEqual(
      [{ type: 'output', text: 'twelve bytes', units: expect.closeTo(3, 0) as number }],
    );
  });

  it('counts cached tokens once, whatever the upstream includes in prompt tokens', () => {
    const json = '{"usage":{"prompt_tokens":2,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":100}}}';
    expect(signals(json)).toMatchObject([{ usage: { input: 102, cacheRead: 100 } }]);
  });

  it('throws on errors (case 22)', () => {
    expect(() => signals('{"error":{"message":"Busy"}}')).toThrow('Busy');
    expect(() => signals('Bad gateway')).toThrow('not a JSON object');
  });
});
