import {
  changedLimits,
  describeLimits,
  limitColumns,
  InvalidLimit,
  limitsIn,
  NO_LIMITS,
  ownOrDefault,
  renderLimits,
} from './limits.js';

describe('limits', () => {
  it('are described without unset limits', () => {
    expect(describeLimits({})).toBe('');
    expect(describeLimits({ requestsPerMinute: 1, tokensPerMinute: 100_000 })).toBe('1 call/min, 100,000 tokens/min');
    expect(describeLimits({ requestsPerMinute: 60, concurrency: 4 })).toBe('60 calls/min, 4 at a time');
    expect(describeLimits({ concurrency: 1 })).toBe('1 at a time');
  });

  it('are rendered as null when unset', () => {
    expect(renderLimits({ concurrency: 4 })).toEqual({
      requests_per_minute: null,
      tokens_per_minute: null,
      concurrency: 4,
    });
  });

  it('round-trip through their columns', () => {
    const limits = { requestsPerMinute: 1, tokensPerMinute: 1_000_000_000 };
    expect(limitsIn(limitColumns(limits))).toEqual(limits);
    expect(limitsIn(limitColumns({}))).toBe(NO_LIMITS);
  });

  it.each([0, -1, 1.5, Number.NaN, 1_000_000_001])('cannot be %d', (requestsPerMinute) => {
    expect(() => limitColumns({ requestsPerMinute })).toThrow(InvalidLimit);
    expect(() => limitColumns({ requestsPerMinute })).toThrow('requests_per_minute must be an integer from 1');
  });

  it('are changed one by one: null removes one, missing ones stay', () => {
    const limits = { requestsPerMinute: 60, concurrency: 4 };
    expect(changedLimits(limits, { requestsPerMinute: null, tokensPerMinute: 10, concurrency: undefined })).toEqual({
      tokensPerMinute: 10,
      concurrency: 4,
    });
    expect(changedLimits(limits, { requestsPerMinute: null, concurrency: null })).toBe(NO_LIMITS);
  });

  it('default one by one', () => {
    const defaults = { requestsPerMinute: 60, concurrency: 4 };
    expect(ownOrDefault({ concurrency: 8, tokensPerMinute: 10 }, defaults)).toEqual({
      requestsPerMinute: 60,
      tokensPerMinute: 10,
      concurrency: 8,
    });
    expect(ownOrDefault(NO_LIMITS, defaults)).toBe(defaults);
  });
});
