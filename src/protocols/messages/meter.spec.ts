import { metered, type Metered, refusalOf } from '../../../test/support/calls.js';
import type { CallHead } from '../contract/index.js';
import { MessagesMeter } from './verbatim.js';

const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;
const start = (
  usage = '{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}',
): string =>
  event(
    'message_start',
    `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":${usage}}}`,
  );
const PING = event('ping', '{"type":"ping"}');
const block = (content: string): string =>
  event('content_block_start', `{"type":"content_block_start","index":0,"content_block":${content}}`);
const delta = (content: string): string =>
  event('content_block_delta', `{"type":"content_block_delta","index":0,"delta":${content}}`);
const BLOCK_STOP = event('content_block_stop', '{"type":"content_block_stop","index":0}');
const end = (
  usage = '{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}',
): string =>
  event(
    'message_delta',
    `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":${usage}}`,
  );
const STOP = event('message_stop', '{"type":"message_stop"}');
const TEXT =
  start() +
  PING +
  block('{"type":"text","text":""}') +
  delta('{"type":"text_delta","text":"Hel"}') +
  delta('{"type":"text_delta","text":"lo"}') +
  BLOCK_STOP +
  end() +
  STOP;

function pass(text: string): Metered & { readonly meter: MessagesMeter } {
  const meter = new MessagesMeter({ head: {} as CallHead });
  return { meter, ...metered(meter, text) };
}

const usageAfter = (...reports: string[]): unknown =>
  pass(reports.map((report, index) => (index === 0 ? start(report) : end(report))).join('')).signals.findLast(
    ({ type }) => type === 'usage',
  );

describe('Messages stream metering', () => {
  it('passes every byte and reads usage (case 3)', () => {
    const { sent, signals, readings, meter } = pass(TEXT);
    const usage = { input: 9, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 };
    expect(sent).toBe(TEXT);
    expect(signals).toEqual([
      { type: 'usage', usage: { ...usage, output: 1 }, isProvisional: true },
      { type: 'content' },
      { type: 'output', text: 'Hel', units: expect.any(Number) as number },
      { type: 'output', text: 'lo', units: expect.any(Number) as number },
      { type: 'usage', usage: { ...usage, output: 2 } },
    ]);
    expect(readings.map(({ last }) => last).indexOf(true)).toBe(7);
    expect(meter.closed).toBe(true);
  });

  it('passes signatures, redacted reasoning, server tools and unknown events (cases 3 and 4)', () => {
    const text =
      start() +
      block('{"type":"thinking","thinking":"","signature":""}') +
      delta('{"type":"signature_delta","signature":"EqQB+/="}') +
      block('{"type":"redacted_thinking","data":"x"}') +
      block('{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"n":1.0}]}') +
      event('hologram', '{"type":"hologram","x":1e2}') +
      end() +
      STOP;
    expect(pass(text).sent).toBe(text);
  });

  it('reads unnamed events', () => {
    const nameless = TEXT.replaceAll(/event: .*\n/g, '');
    expect(pass(nameless).signals).toEqual(pass(TEXT).signals);
  });

  it('treats empty text and reasoning as prelude, and tool calls as content', () => {
    const begun = (text: string): boolean => pass(text).signals.some(({ type }) => type === 'content');
    expect(begun(start() + PING + block('{"type":"text","text":""}'))).toBe(false);
    expect(begun(block('{"type":"thinking","thinking":"","signature":""}'))).toBe(false);
    expect(begun(block('{"type":"tool_use","id":"call_9","name":"f","input":{}}'))).toBe(true);
    expect(begun(delta('{"type":"thinking_delta","thinking":"Hm."}'))).toBe(true);
  });

  it('counts arguments as output', () => {
    const text = delta(String.raw`{"type":"input_json_delta","partial_json":"{\"city\":\"Oslo\"}"}`);
    expect(pass(text).signals).toContainEqual({
      type: 'output',
      text: '{"city":"Oslo"}',
      units: expect.closeTo(5, -1) as number,
    });
  });

  it('is incomplete without message_stop (case 40)', () => {
    expect(pass(TEXT.slice(0, -STOP.length)).meter.closed).toBe(false);
    expect(pass(`${TEXT.slice(0, -STOP.length)}data: [DONE]\n\n`).meter.closed).toBe(false);
  });

  it('hides markers and everything after the end (cases 18 and 29)', () => {
    expect(pass(`${TEXT}data: [DONE]\n\n${PING}`).sent).toBe(TEXT);
  });

  it.each([
    [event('error', '{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}'), 'server_is_overloaded'],
    ['data: {"type":"error","error":{"type":"rate_limit_error","message":"Slow"}}\n\n', 'rate_limit_exceeded'],
    ['data: {"error":{"message":"Boom","code":500}}\n\n', 'upstream_error'],
    ['event: message_delta\ndata: oops\n\n', 'upstream_error'],
    ['event: message_start\ndata: {oops\n\n', 'upstream_error'],
    ['event: content_block_delta\ndata: {"type":"content_block_delta","delta":\n\n', 'upstream_error'],
  ])('throws the error in %j', (text, kind) => {
    expect(refusalOf(() => pass(text))).toMatchObject({ kind, details: { failover: true } });
  });
});

describe('usage of a Messages stream', () => {
  it('is provisional until output is reported', () => {
    const provisional = (...reports: string[]): unknown =>
      (usageAfter(...reports) as { isProvisional?: boolean }).isProvisional;
    const started = '{"input_tokens":900,"output_tokens":1}';
    expect(provisional(started)).toBe(true);
    expect(provisional(started, '{}')).toBe(true);
    expect(provisional(started, '{"input_tokens":900}')).toBe(true);
    expect(provisional(started, '{"output_tokens":0}')).toBeUndefined();
    expect(provisional(started, '{"output_tokens":5}', '{"input_tokens":901}')).toBeUndefined();
  });

  it('is counted once when reported twice (case 90)', () => {
    const report = '{"input_tokens":9,"cache_read_input_tokens":50,"cache_creation_input_tokens":7,"output_tokens":3}';
    expect(usageAfter(report, report)).toMatchObject({
      usage: { input: 66, cacheRead: 50, cacheWrite: 7, output: 3 },
    });
  });

  it('uses the split when the whole prompt came first (case 91)', () => {
    const split = '{"input_tokens":20,"cache_read_input_tokens":80,"output_tokens":3}';
    expect(usageAfter('{"input_tokens":100,"output_tokens":0}', split)).toMatchObject({
      usage: { input: 100, cacheRead: 80, output: 3 },
    });
  });

  it('keeps the prompt when the end reports output only', () => {
    const report =
      '{"input_tokens":9,"cache_read_input_tokens":50,"cache_creation":{"ephemeral_1h_input_tokens":4},"output_tokens":1}';
    expect(usageAfter(report, '{"output_tokens":31}')).toMatchObject({
      usage: { input: 63, cacheRead: 50, cacheWrite1h: 4, output: 31 },
    });
  });

  it('is not overwritten by zeros', () => {
    const zeros = '{"input_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":3}';
    expect(usageAfter('{"input_tokens":100,"output_tokens":0}', zeros)).toMatchObject({
      usage: { input: 100, output: 3 },
    });
    expect(usageAfter('{"input_tokens":100,"output_tokens":0}', '{"input_tokens":0,"output_tokens":3}')).toMatchObject({
      usage: { input: 100, output: 3 },
    });
  });

  it('separates one-hour cache writes', () => {
    const report =
      '{"input_tokens":1,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":1}';
    expect(usageAfter(report)).toMatchObject({ usage: { input: 31, cacheWrite: 10, cacheWrite1h: 20 } });
  });
});
