import { aCall, metered, type Metered, refusalOf } from '../../../test/support/calls.js';
import type { AppError } from '../../platform/shared/index.js';
import type { CallSignal } from '../contract/index.js';
import { ChatCompletionsProtocol } from './protocol.js';
import { ChatCompletionsMeter } from './verbatim.js';

const PREFIX = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",';
const chunk = (rest: string): string => `data: ${PREFIX}${rest}}\n\n`;
const delta = (fields: string, finish = 'null'): string =>
  `"choices":[{"index":0,"delta":{${fields}},"logprobs":null,"finish_reason":${finish}}]`;
const USAGE = '{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}';
const USAGE_SIGNAL: CallSignal = {
  type: 'usage',
  usage: { input: 9, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 2, reasoning: 0 },
};
const DONE = 'data: [DONE]\n\n';
const TEXT = [
  chunk(delta('"role":"assistant","content":""')),
  chunk(delta('"content":"Hel"')),
  chunk(delta('"content":"lo"')),
  chunk(delta('', '"stop"')),
];

const meterFor = (body: object): ChatCompletionsMeter =>
  new ChatCompletionsMeter(aCall(new ChatCompletionsProtocol(), { model: 'm', messages: [], stream: true, ...body }));

function pass(text: string, body: object = {}): Metered & { readonly meter: ChatCompletionsMeter } {
  const meter = meterFor(body);
  return { meter, ...metered(meter, text) };
}

const errorOf = (text: string): AppError => refusalOf(() => pass(text));

const ASKED = { stream_options: { include_usage: true } };

describe('Chat Completions stream metering', () => {
  it('passes all bytes and reads usage when the client requested it (case 7)', () => {
    const nulls = TEXT.map((line) => line.replace(/\}\n\n$/, ',"usage":null}\n\n')).join('');
    const text = `${nulls}${chunk(`"choices":[],"usage":${USAGE}`)}${DONE}`;
    const { sent, signals, readings } = pass(text, ASKED);
    expect(sent).toBe(text);
    expect(signals).toEqual([
      { type: 'content' },
      { type: 'output', text: 'Hel', units: expect.any(Number) as number },
      { type: 'output', text: 'lo', units: expect.any(Number) as number },
      USAGE_SIGNAL,
    ]);
    expect(readings.map(({ last }) => last)).toEqual([false, false, false, false, false, true]);
  });

  it('hides a usage chunk that only the relay requested (case 6)', () => {
    const { sent, signals } = pass(`${TEXT.join('')}${chunk(`"choices":[],"usage":${USAGE}`)}${DONE}`);
    expect(sent).toBe(TEXT.join('') + DONE);
    expect(signals).toContainEqual(USAGE_SIGNAL);
  });

  it('removes usage from other chunks without changing other bytes (case 6)', () => {
    const finish = (usage: string): string => chunk(`"usage" : ${usage}, "x":1.0,${delta('', '"stop"')}`);
    const { sent, signals } = pass(TEXT.slice(0, 3).join('') + finish(USAGE) + DONE);
    expect(sent).toBe(TEXT.slice(0, 3).join('') + finish('null') + DONE);
    expect(signals).toContainEqual(USAGE_SIGNAL);
  });

  it('passes unknown members and events (case 3)', () => {
    const odd = `event: future\ndata: {"x":1.0}\n\n${chunk(`${delta('"content":"a","hologram":{}')},"timings":{"a":1}`)}`;
    expect(pass(odd + TEXT[3]! + DONE).sent).toBe(odd + TEXT[3]! + DONE);
  });

  it('does not mistake text for members', () => {
    const text = chunk(delta(String.raw`"content":"{\"usage\": {}, \"error\": {}, \"finish_reason\": \"stop\"}"`));
    const { meter, sent } = pass(text);
    expect(sent).toBe(text);
    expect(meter.complete).toBe(false);
  });

  it('treats roles and empty text as prelude; calls, reasoning and refusals as content', () => {
    expect(pass(TEXT[0]!).signals).toEqual([]);
    const begins = [
      '"reasoning_content":"Hm."',
      '"refusal":"No."',
      '"tool_calls":[{"index":0,"id":"call_9","type":"function","function":{"name":"f","arguments":""}}]',
    ];
    for (const begin of begins) expect(pass(chunk(delta(begin))).signals[0]).toEqual({ type: 'content' });
    expect(pass(chunk(delta('"content":"","tool_calls":[]'))).signals).toEqual([]);
  });

  it('reports output once if it is under two names', () => {
    const text = String.raw`Na\u00efve \"café\" 誕\n`;
    const said = { type: 'output', text: 'Naïve "café" 誕\n', units: expect.any(Number) as number };
    expect(pass(chunk(delta(`"content":"${text}"`))).signals).toContainEqual(said);
    expect(pass(chunk(delta(`"reasoning":"${text}","reasoning_content":"${text}"`))).signals).toContainEqual(said);
  });

  it('is complete with a finish reason, without the marker (case 37)', () => {
    const { meter } = pass(TEXT.join(''));
    expect(meter.complete).toBe(true);
    expect(Buffer.from(meter.end().replacement ?? '').toString()).toBe(DONE);
    expect(pass(TEXT.slice(0, 3).join('')).meter.complete).toBe(false);
  });

  it('waits for the end of all choices', () => {
    const second = TEXT[3]!.replace('"index":0', '"index":1');
    expect(pass(TEXT[3]!, { n: 2 }).meter.complete).toBe(false);
    expect(pass(TEXT[3]! + second, { n: 2 }).meter.complete).toBe(true);
  });

  it('does not treat the marker alone as an end (case 36)', () => {
    expect(errorOf(TEXT.slice(0, 3).join('') + DONE)).toMatchObject({ kind: 'upstream_truncated' });
  });

  it('does not count a repeated reason as another choice (case 38)', () => {
    const repeated = TEXT.join('') + chunk(delta('', '"length"'));
    expect(pass(repeated, { n: 2 }).meter.complete).toBe(false);
    expect(pass(repeated + DONE).readings.filter(({ last }) => last)).toHaveLength(1);
  });

  it('hides everything after the marker (cases 18 and 28)', () => {
    const { sent, readings } = pass(`${TEXT.join('')}${DONE}${DONE}${TEXT[1]}`);
    expect(sent).toBe(TEXT.join('') + DONE);
    expect(readings.filter(({ last }) => last)).toHaveLength(1);
  });

  it.each(['oops', '{"choices":[{"delta":', '{"choices":\ndata: [{"delta":'])(
    'skips invalid or truncated data: %j (case 19)',
    (data) => {
      expect(pass(`${TEXT[0]}data: ${data}\n\n${TEXT[1]}`).sent).toBe(`${TEXT[0]}${TEXT[1]}`);
    },
  );

  it('passes an object with line breaks or surrounding spaces (case 12)', () => {
    const spread = `data:   {"choices":\ndata: [${' '.repeat(100)}]}  \nid: 7\n\n`;
    expect(pass(`${TEXT[0]}${spread}`).sent).toBe(`${TEXT[0]}${spread}`);
  });

  it.each([
    ['data: {"error":{"message":"Busy","code":"rate_limit_exceeded"}}\n\n', 'rate_limit_exceeded'],
    ['event: error\ndata: {"message":"Boom"}\n\n', 'upstream_error'],
    ['event: error\ndata: Boom\n\n', 'upstream_error'],
    ['data: {"error":"Boom"}\n\n', 'upstream_error'],
  ])('throws the error in %j', (text, kind) => {
    expect(errorOf(text)).toMatchObject({ kind, details: { failover: true } });
  });

  it('ignores error:null', () => {
    const text = chunk(`${delta('"content":"a"')},"error":null`);
    expect(pass(text).sent).toBe(text);
  });
});
