import { metered, type Metered, refusalOf } from '../../../test/support/calls.js';
import type { CallHead } from '../contract/index.js';
import { ResponsesMeter } from './verbatim.js';

let sequence = 0;
const event = (type: string, rest: string): string =>
  `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence++},${rest}}\n\n`;
const response = (status: string, rest = '"output":[],"usage":null'): string =>
  `"response":{"id":"resp_1","object":"response","created_at":1,"status":"${status}","error":null,"incomplete_details":null,"model":"m",${rest}}`;
const USAGE =
  '"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":11}';
const PRELUDE =
  event('response.created', response('in_progress')) +
  event('response.in_progress', response('in_progress')) +
  event('response.output_item.added', '"output_index":0,"item":{"type":"message","id":"msg_a","content":[]}') +
  event('response.content_part.added', '"item_id":"msg_a","part":{"type":"output_text","text":"","annotations":[]}');
const BODY =
  event(
    'response.output_text.delta',
    '"item_id":"msg_a","output_index":0,"content_index":0,"delta":"Hel","logprobs":[]',
  ) +
  event(
    'response.output_text.delta',
    '"item_id":"msg_a","output_index":0,"content_index":0,"delta":"lo","logprobs":[]',
  ) +
  event('response.output_text.done', '"item_id":"msg_a","text":"Hello"') +
  event('response.output_item.done', '"output_index":0,"item":{"type":"message","id":"msg_a","content":[]}');
const COMPLETED = event('response.completed', response('completed', `"output":[{"type":"message"}],${USAGE}`));
const DONE = 'data: [DONE]\n\n';

function pass(text: string): Metered & { readonly meter: ResponsesMeter } {
  const meter = new ResponsesMeter({ head: {} as CallHead });
  return { meter, ...metered(meter, text) };
}

describe('Responses stream metering', () => {
  it('passes every byte and reads usage (case 3)', () => {
    const text = PRELUDE + BODY + event('response.hologram.future', '"x":1.0') + COMPLETED + DONE;
    const { sent, signals, meter } = pass(text);
    expect(sent).toBe(text);
    expect(signals).toEqual([
      { type: 'content' },
      { type: 'output', text: 'Hel', units: expect.any(Number) as number },
      { type: 'output', text: 'lo', units: expect.any(Number) as number },
      {
        type: 'usage',
        usage: {
          input: 9,
          cacheRead: 4,
          cacheWrite: 0,
          cacheWrite1h: 0,
          output: 2,
          reasoning: 0,
          responseId: 'resp_1',
        },
      },
    ]);
    expect(meter.complete).toBe(true);
  });

  it('ends with the final event, or with a following marker', () => {
    const lasts = pass(PRELUDE + COMPLETED + DONE).readings.map(({ last }) => last);
    expect(lasts).toEqual([false, false, false, false, true, true]);
    expect(pass(PRELUDE + COMPLETED).meter.complete).toBe(true);
  });

  it('treats an incomplete response as ended (case 41)', () => {
    const incomplete = event(
      'response.incomplete',
      response('incomplete', USAGE).replace(
        '"incomplete_details":null',
        '"incomplete_details":{"reason":"content_filter"}',
      ),
    );
    const { meter, readings, signals, sent } = pass(incomplete);
    expect(meter.complete).toBe(true);
    expect(readings.map(({ last }) => last)).toEqual([true]);
    expect(signals).toMatchObject([{ type: 'usage', usage: { input: 9, output: 2 } }]);
    expect(sent).toBe(incomplete);
  });

  it('reads unnamed events', () => {
    const text = PRELUDE + BODY + COMPLETED + DONE;
    expect(pass(text.replaceAll(/event: .*\n/g, '')).signals).toEqual(pass(text).signals);
  });

  it('treats everything before content as prelude', () => {
    expect(pass(PRELUDE).signals).toEqual([]);
    const reasoning = event('response.output_item.added', '"output_index":0,"item":{"type":"reasoning","summary":[]}');
    expect(pass(reasoning).signals).toEqual([]);
    const call = event('response.output_item.added', '"item":{"type":"function_call","name":"f","arguments":""}');
    expect(pass(call).signals).toMatchObject([{ type: 'content' }, { type: 'output', text: 'f' }]);
    const whole = event('response.output_item.done', '"item":{"type":"function_call","name":"f","arguments":"{}"}');
    expect(pass(whole).signals).toEqual([{ type: 'content' }]);
  });

  it('counts every kind of delta', () => {
    const deltas = ['function_call_arguments', 'reasoning_summary_text', 'refusal'].map((kind) =>
      event(`response.${kind}.delta`, '"delta":"eight by"'),
    );
    expect(pass(deltas.join('')).signals.filter(({ type }) => type === 'output')).toEqual(
      Array.from({ length: 3 }, () => ({ type: 'output', text: 'eight by', units: expect.closeTo(2, 0) as number })),
    );
  });

  it('is incomplete without a final event, with or without marker (case 40)', () => {
    const { meter, sent } = pass(PRELUDE + BODY + DONE);
    expect(meter.complete).toBe(false);
    expect(sent).toBe(PRELUDE + BODY);
  });

  it('passes events between the final event and the marker, and hides later ones (case 18)', () => {
    const between = event('response.future', '"x":1.0');
    expect(pass(PRELUDE + COMPLETED + between + DONE + DONE + BODY).sent).toBe(PRELUDE + COMPLETED + between + DONE);
  });

  it.each([
    [
      event(
        'response.failed',
        response('failed').replace('"error":null', '"error":{"code":"rate_limit_exceeded","message":"Slow"}'),
      ),
      'rate_limit_exceeded',
    ],
    [event('response.failed', response('failed')), 'upstream_error'],
    [
      'event: error\ndata: {"type":"error","code":"server_is_overloaded","message":"Busy","param":null}\n\n',
      'server_is_overloaded',
    ],
    [
      'data: {"type":"error","error":{"type":"server_error","code":"server_error","message":"Boom"}}\n\n',
      'upstream_error',
    ],
    ['data: {"error":{"message":"Boom"}}\n\n', 'upstream_error'],
    ['data: oops\n\n', 'upstream_error'],
    ['data: {"type":"response.output_text.delta","delta":\n\n', 'upstream_error'],
  ])('throws the error in %j', (text, kind) => {
    expect(refusalOf(() => pass(PRELUDE + text))).toMatchObject({ kind, details: { failover: true } });
  });

  it('keeps the reason of a rejected prompt', () => {
    const text = event(
      'response.failed',
      response('failed').replace('"error":null', '"error":{"code":"invalid_prompt","message":"No."}'),
    );
    expect(() => pass(text)).toThrow('No.');
  });
});
