import type { JsonObject } from '../../platform/shared/index.js';
import { NO_TOKENS, type TokenUsage } from '../contract/index.js';
import { wireUsage } from './renderer.js';
import { MessagesUsage } from './usage.js';

const counts = (input_tokens: number, output_tokens: number, more: JsonObject = {}): JsonObject => ({
  input_tokens,
  output_tokens,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  ...more,
});
const iteration = (type: string, model: string | null, ...[input, output]: [number, number]): JsonObject => ({
  type,
  model,
  ...counts(input, output),
});
const usageOf = (...reports: readonly JsonObject[]): TokenUsage | undefined => {
  const usage = new MessagesUsage();
  return reports.map((report) => usage.merge(report)).at(-1);
};
const tokens = (input: number, output: number): TokenUsage => ({ ...NO_TOKENS, input, output });

describe('speed and region of Messages usage', () => {
  it('are kept while later reports omit them', () => {
    const usage = usageOf(counts(10, 1, { speed: 'fast', inference_geo: 'us' }), { output_tokens: 20 });
    expect(usage).toEqual({ ...tokens(10, 20), speed: 'fast', geo: 'us' });
  });

  it.each([null, '', 7, 'x'.repeat(65)])('are absent when reported as %p', (odd) => {
    expect(usageOf(counts(10, 1, { speed: odd, inference_geo: odd }))).toEqual(tokens(10, 1));
  });
});

describe('Messages iterations', () => {
  it('add a compaction as a pass of the same model', () => {
    const iterations = [
      { type: 'compaction', ...counts(180_000, 3_500, { cache_creation: { ephemeral_1h_input_tokens: 500 } }) },
      iteration('message', null, 23_000, 1_000),
    ];
    expect(usageOf(counts(23_000, 1_000, { iterations }))).toEqual({
      ...tokens(23_000, 1_000),
      passes: [{ model: undefined, usage: { ...tokens(180_500, 3_500), cacheWrite1h: 500 } }],
    });
  });

  it('add each advisor run as a pass of its model', () => {
    const iterations = [
      iteration('message', 'small', 400, 100),
      iteration('advisor_message', 'large', 823, 1_612),
      iteration('message', 'small', 1_348, 431),
      iteration('advisor_message', 'large', 900, 12),
    ];
    expect(usageOf(counts(1_748, 531, { iterations }))).toEqual({
      ...tokens(1_748, 531),
      passes: [
        { model: 'large', usage: tokens(823, 1_612) },
        { model: 'large', usage: tokens(900, 12) },
      ],
    });
  });

  it('complete totals that only include the first prompt of a loop', () => {
    const iterations = [iteration('message', 'small', 400, 100), iteration('message', 'small', 1_348, 431)];
    expect(usageOf(counts(400, 531, { iterations }))).toEqual(tokens(1_748, 531));
  });

  it('do not count turns of a tool loop twice', () => {
    const iterations = [iteration('message', null, 400, 100), iteration('message', null, 600, 31)];
    expect(usageOf(counts(1_000, 131, { iterations }))).toEqual(tokens(1_000, 131));
  });

  it.each([
    ['beside the totals', counts(120, 80)],
    ['within the totals', counts(220, 85)],
  ])('charge a fallback as the serving model, and the declined turn %s as a pass', (_, totals) => {
    const iterations = [iteration('message', 'asked', 100, 5), iteration('fallback_message', 'fallback', 120, 80)];
    expect(usageOf({ ...totals, iterations })).toEqual({
      ...tokens(120, 80),
      servedBy: 'fallback',
      passes: [{ model: 'asked', usage: tokens(100, 5) }],
    });
  });

  it('report the serving model if no other one ran', () => {
    const iterations = [iteration('fallback_message', 'fallback', 120, 80)];
    expect(usageOf(counts(120, 80, { iterations }))).toEqual({ ...tokens(120, 80), servedBy: 'fallback' });
  });

  it('count unknown kinds only if the totals exclude them', () => {
    const iterations = [iteration('message', null, 100, 10), iteration('new_kind', 'other', 50, 5)];
    expect(usageOf(counts(100, 10, { iterations }))?.passes).toEqual([{ model: 'other', usage: tokens(50, 5) }]);
    expect(usageOf(counts(150, 15, { iterations }))).toEqual(tokens(150, 15));
  });

  it('use the last report of a stream', () => {
    const iterations = [{ type: 'compaction', ...counts(500, 50) }, iteration('message', null, 10, 20)];
    const usage = usageOf(counts(10, 1, { iterations: null }), { output_tokens: 20, iterations });
    expect(usage).toEqual({ ...tokens(10, 20), passes: [{ model: undefined, usage: tokens(500, 50) }] });
  });

  it('are ignored when empty', () => {
    for (const iterations of [null, [], 'x', [null, 1]])
      expect(usageOf(counts(10, 1, { iterations }))).toEqual(tokens(10, 1));
  });
});

describe('rendered Messages usage', () => {
  it('lists passes as iterations, and can be read back', () => {
    const reported = counts(23_000, 1_000, {
      speed: 'fast',
      inference_geo: 'us',
      iterations: [
        { type: 'compaction', ...counts(180_000, 3_500) },
        iteration('advisor_message', 'large', 823, 1_612),
        iteration('message', null, 23_000, 1_000),
      ],
    });
    const usage = usageOf(reported)!;
    expect(usageOf(wireUsage(usage) as JsonObject)).toEqual(usage);
    expect(wireUsage(usage)).toMatchObject({ input_tokens: 23_000, output_tokens: 1_000, speed: 'fast' });
  });

  it('counts cache writes of every lifetime', () => {
    const usage = { ...tokens(1_000, 10), cacheWrite: 100, cacheWrite1h: 200, cacheWrite12h: 300 };
    expect(wireUsage(usage)).toMatchObject({
      input_tokens: 400,
      cache_creation_input_tokens: 600,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 500 },
    });
  });
});
