import { renderMessagesLimits } from './protocol.js';

describe('renderMessagesLimits', () => {
  it('renders the reset time as RFC 3339, rounded up to seconds', () => {
    const resetsAt = Date.parse('2026-11-22T10:00:00.001Z');
    const tokens = { limit: 1000, remaining: 10, resetMs: 5000, resetsAt };
    expect(renderMessagesLimits({ tokens })).toEqual({
      'anthropic-ratelimit-tokens-limit': '1000',
      'anthropic-ratelimit-tokens-remaining': '10',
      'anthropic-ratelimit-tokens-reset': '2026-11-22T10:00:01Z',
    });
  });
});
