import { renderOpenAiLimits } from './openai.js';

describe('renderOpenAiLimits', () => {
  const reset = (resetMs: number): string | undefined =>
    renderOpenAiLimits({ requests: { limit: 1, remaining: 0, resetMs, resetsAt: 0 } })['x-ratelimit-reset-requests'];

  it.each([
    [0, '0ms'],
    [119.2, '120ms'],
    [999, '999ms'],
    [1000, '1s'],
    [1001, '2s'],
    [59_001, '1m0s'],
    [105_000, '1m45s'],
    [360_000, '6m0s'],
  ])('renders %d ms as %s', (ms, text) => {
    expect(reset(ms)).toBe(text);
  });
});
