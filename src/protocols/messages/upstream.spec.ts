import { aCall, aTarget, type CallOptions } from '../../../test/support/calls.js';
import type { UpstreamRequest, UpstreamTarget } from '../contract/index.js';
import { MessagesProtocol } from './protocol.js';
import { MessagesUpstream } from './upstream.js';

const protocol = new MessagesProtocol();
const upstream = new MessagesUpstream();
const MIN = '{"model":"m","max_tokens":100,"messages":[]}';

const send = (json: string, options: CallOptions = {}, overrides: Partial<UpstreamTarget> = {}): UpstreamRequest =>
  upstream.verbatim.rewriteRequest(aCall(protocol, json, options), aTarget(overrides));

const rewritten = (json: string, overrides: Partial<UpstreamTarget> = {}): string =>
  Buffer.concat(send(json, {}, overrides).body.pieces()).toString();

describe('verbatim Messages requests', () => {
  it('leave signatures, redacted reasoning, server tools and unknown members unchanged (cases 1 and 4)', () => {
    const json = String.raw`{"model":"m","max_tokens":9,"thread":{"type":"create"},"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"EqQB+/="},{"type":"redacted_thinking","data":"x\u003d"},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"10":1.0,"2":1e2}}]},{"role":"system","content":"x"}]}`;
    expect(rewritten(json)).toBe(json);
  });

  it('only replace the model (cases 2 and 5)', () => {
    const json = '{ "messages":[{"n":9007199254740993}], "model" : "alias" ,"max_tokens":1}';
    expect(rewritten(json)).toBe(json.replace('"alias"', '"m"'));
  });

  it.each([
    [{ 'anthropic-version': '2026-10-21' }, '2026-10-21'],
    [{ 'vendor-version': '2026-10-21' }, '2026-10-21'],
    [{ 'vendor-version': '2026-10-21', 'anthropic-version': '2023-06-01' }, '2023-06-01'],
    [{}, '2023-06-01'],
  ])('send the version of %j (case 4)', (headers, version) => {
    expect(send(MIN, { headers }).headers).toEqual({
      'content-type': 'application/json',
      accept: 'application/json',
      'anthropic-version': version,
    });
  });

  it('forward beta features and no other client headers (case 4)', () => {
    const headers = { 'anthropic-beta': 'a-2026,b-2026', 'x-api-key': 'sk-client', 'x-app': 'cli' };
    const sent = send(MIN.replace('}', ',"stream":true}'), { headers, query: 'beta=true&key=sk-client' });
    expect(sent).toMatchObject({ path: '/messages', query: 'beta=true' });
    expect(sent.headers).toEqual({
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'a-2026,b-2026',
    });
    expect(send(MIN, { query: 'beta=false' }).query).toBe('');
  });

  it('lower the output limit to what is affordable, and never raise it', () => {
    expect(rewritten(MIN, { outputLimit: 20 })).toBe('{"model":"m","max_tokens":20,"messages":[]}');
    expect(rewritten(MIN, { outputLimit: 200 })).toBe(MIN);
  });

  it('reject a call whose reasoning exceeds the affordable limit', () => {
    const json = '{"model":"m","max_tokens":9000,"messages":[],"thinking":{"type":"enabled","budget_tokens":2000}}';
    expect(() => rewritten(json, { outputLimit: 2000 })).toThrow(/^insufficient quota/);
    expect(rewritten(json, { outputLimit: 2001 })).toContain('"max_tokens":2001');
    expect(rewritten(json.replace('enabled', 'adaptive'), { outputLimit: 20 })).toContain('"max_tokens":20,');
  });
});

describe('unstreamed Messages metering', () => {
  const signals = (json: string): unknown => upstream.verbatim.meterResponse(aCall(protocol, MIN), Buffer.from(json));

  it('reads usage', () => {
    const json =
      '{"id":"msg_1","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"cache_read_input_tokens":100,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":5,"output_tokens_details":{"thinking_tokens":3}}}';
    expect(signals(json)).toEqual([
      {
        type: 'usage',
        usage: { input: 139, cacheRead: 100, cacheWrite: 10, cacheWrite1h: 20, output: 5, reasoning: 3 },
      },
    ]);
  });

  it('estimates unreported output', () => {
    expect(signals('{"content":[{"type":"text","text":"twelve bytes"}],"stop_reason":null}')).toEqual([
      { type: 'output', text: 'twelve bytes', units: expect.closeTo(3, 0) as number },
    ]);
  });

  it('throws on errors (case 22)', () => {
    expect(() => signals('{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}')).toThrow(
      'overloaded',
    );
  });
});
