import { aCall, aTarget } from '../../../test/support/calls.js';
import type { UpstreamTarget } from '../contract/index.js';
import { ResponsesProtocol } from './protocol.js';
import { ResponsesUpstream } from './upstream.js';

const protocol = new ResponsesProtocol();
const upstream = new ResponsesUpstream();

const rewritten = (json: string, overrides: Partial<UpstreamTarget> = {}): string =>
  Buffer.concat(upstream.verbatim.rewriteRequest(aCall(protocol, json), aTarget(overrides)).body.pieces()).toString();

describe('verbatim Responses requests', () => {
  it('leave unknown members unchanged (case 1)', () => {
    const json =
      '{"model":"m","input":[{"type":"additional_tools","role":"developer","tools":[]},{"type":"message","role":"user","content":[{"type":"input_hologram"}]}],"tools":[{"type":"namespace","name":"n","tools":[]}],"client_metadata":{"a":"b"},"stream":true}';
    expect(rewritten(json)).toBe(json);
  });

  it('only replace the model (cases 2 and 5)', () => {
    const json = '{ "input":[{"n":9007199254740993,"one":1.0,"10":1,"2":1e2}], "model":"alias" }';
    expect(rewritten(json)).toBe(json.replace('"alias"', '"m"'));
  });

  it.each([
    ['{"model":"m","input":""}', 20, '{"max_output_tokens":20,"model":"m","input":""}'],
    ['{"model":"m","input":"","max_output_tokens":500}', 20, '{"model":"m","input":"","max_output_tokens":20}'],
    ['{"model":"m","input":"","max_output_tokens":null}', 3, '{"model":"m","input":"","max_output_tokens":16}'],
    ['{"model":"m","input":"","max_output_tokens":10}', 20, '{"model":"m","input":"","max_output_tokens":10}'],
  ])('lower the output limit of %s to %i', (json, outputLimit, expected) => {
    expect(rewritten(json, { outputLimit })).toBe(expected);
  });

  it.each([
    ['{"model":"m","input":""}', '{"store":false,"model":"m","input":""}'],
    ['{"model":"m","input":"","store":null}', '{"model":"m","input":"","store":false}'],
    ['{"model":"m","input":"","store":false}', '{"model":"m","input":"","store":false}'],
  ])('disable storage of %s for keys without it', (json, expected) => {
    expect(rewritten(json, { mayStore: false })).toBe(expected);
    expect(rewritten(json)).toBe(json);
  });

  it('forward only named client headers', () => {
    const headers = { authorization: 'Bearer sk-client', originator: 'codex', 'openai-beta': 'x=1' };
    const sent = upstream.verbatim.rewriteRequest(
      aCall(protocol, '{"model":"m","input":"","stream":true}', { headers, query: 'beta=true' }),
      aTarget(),
    );
    expect(sent).toMatchObject({ path: '/responses', query: '' });
    expect(sent.headers).toEqual({
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'openai-beta': 'x=1',
    });
  });
});

describe('unstreamed Responses metering', () => {
  const call = aCall(protocol, '{"model":"m","input":""}');
  const signals = (json: string): unknown => upstream.verbatim.meterResponse(call, Buffer.from(json));

  it('reads usage', () => {
    const json =
      '{"id":"resp_1","status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"},"output":[],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":14}}';
    expect(signals(json)).toEqual([
      {
        type: 'usage',
        usage: {
          input: 9,
          cacheRead: 4,
          cacheWrite: 2,
          cacheWrite1h: 0,
          output: 5,
          reasoning: 3,
          responseId: 'resp_1',
        },
      },
    ]);
  });

  it('estimates unreported output', () => {
    expect(signals('{"output":[{"content":[{"type":"output_text","text":"twelve bytes"}]}],"usage":null}')).toEqual([
      { type: 'output', text: 'twelve bytes', units: expect.closeTo(3, 0) as number },
    ]);
  });

  it('throws on errors (case 22)', () => {
    expect(() => signals('{"status":"failed","error":{"code":"server_error","message":"Boom"}}')).toThrow('Boom');
    expect(() => signals('{"status":"failed","error":null}')).toThrow('upstream failed');
    expect(() => signals('{"error":{"message":"Busy"}}')).toThrow('Busy');
  });
});

describe('messages of a Responses upstream over WebSocket', () => {
  const rejectionOf = (status: unknown): unknown =>
    upstream.socket.read(Buffer.from(JSON.stringify({ type: 'error', status, error: {}, headers: { A: 'b' } })))
      .rejection;

  it('are rejections with an error status', () => {
    expect(rejectionOf(429)).toEqual({ status: 429, headers: { a: 'b' } });
  });

  it.each([200, 399, 600, 400.5, '429', null, [429], { valueOf: 1, toString: 1 }])(
    'are events with the status %j',
    (status) => {
      expect(rejectionOf(status)).toBeUndefined();
    },
  );
});
