import { type ExceededLimit, RateLimited } from './rate-limited.js';

const exceeded = (overrides: Partial<ExceededLimit>): ExceededLimit => ({
  subject: { kind: 'key', name: 'laptop' },
  limit: 'requests',
  allowed: 60,
  used: 60,
  needed: 1,
  ...overrides,
});
const errorOf = (overrides: Partial<ExceededLimit>, waitMs: number | undefined = 2100): RateLimited =>
  new RateLimited(exceeded(overrides), waitMs, {});

describe('RateLimited', () => {
  it.each([
    [{}, 'the key “laptop” is limited to 60 requests per minute.'],
    [{ subject: { kind: 'account', name: '' }, allowed: 1 }, 'your account is limited to 1 request per minute.'],
    [
      { limit: 'tokens', allowed: 1000, used: 900, needed: 200, subject: { kind: 'group', name: 'saver' } },
      'the group “saver” as a whole is limited to 1000 tokens per minute; 900 are used and this call needs about 200.',
    ],
    [
      { limit: 'concurrency', allowed: 4, subject: { kind: 'address', name: '' } },
      'your IP address is limited to 4 concurrent calls.',
    ],
  ] as const)('names the limit, its subject and the wait: %#', (overrides, rule) => {
    const error = errorOf(overrides);
    expect(error.message).toBe(`Rate limit reached: ${rule} Please try again in 3s.`);
    expect([error.kind, error.details]).toEqual(['rate_limit_exceeded', { retryAfterSeconds: 3 }]);
  });

  it.each([
    [1, 1],
    [1000, 1],
    [1001, 2],
    [59_999, 60],
    [200_000, 60],
  ])('reports a wait of %d ms as %d s', (waitMs, seconds) => {
    const error = errorOf({}, waitMs);
    expect(error.details.retryAfterSeconds).toBe(seconds);
    // Codex parses this.
    expect(/try again in (\d+)s/i.exec(error.message)?.[1]).toBe(String(seconds));
  });

  it('tells clients not to retry a call that exceeds the limit by itself', () => {
    const error = new RateLimited(exceeded({ limit: 'tokens', allowed: 100, used: 0, needed: 200 }), undefined, {});
    expect(error.details.shouldRetry).toBe(false);
    expect(error.message).toMatch(/This request alone is over the limit; make it smaller\.$/);
  });
});
