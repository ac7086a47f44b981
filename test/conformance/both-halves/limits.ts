import type { DialectUnderTest } from './dialect-under-test.js';

const NOW = Date.parse('2026-11-22T10:00:00Z');
const standing = (
  limit: number,
  remaining: number,
): { limit: number; remaining: number; resetMs: number; resetsAt: number } => ({
  limit,
  remaining,
  resetMs: 90_000,
  resetsAt: NOW + 90_000,
});

/** What is left of our limits stands in headers, as the clients of the dialect read them. */
export function describeLimits({ protocol }: DialectUnderTest): void {
  it('names no limit where there is none', () => {
    expect(protocol.renderLimits({})).toEqual({});
  });

  it.each(['requests', 'tokens'] as const)(
    'says of %s what the limit is, what is left, and when all of it is back',
    (what) => {
      const headers = protocol.renderLimits({ [what]: standing(4321, 1234) });
      expect(Object.keys(headers)).toHaveLength(3);
      expect(Object.values(headers)).toEqual(expect.arrayContaining(['4321', '1234']));
      for (const [name, value] of Object.entries(headers)) {
        expect(name).toMatch(/^[a-z-]*ratelimit-[a-z-]+$/);
        expect(name).toContain(what);
        expect(value).toMatch(/^(?:\d+|1m30s|2026-11-22T10:01:30Z)$/);
      }
    },
  );

  it('says both beside each other', () => {
    const headers = protocol.renderLimits({ requests: standing(60, 59), tokens: standing(1000, 0) });
    expect(Object.keys(headers)).toHaveLength(6);
  });
}
