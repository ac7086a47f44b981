import { AttemptLog } from './attempt-log.js';

const anAttempt = (): AttemptLog => {
  const target = { channel: 'c', protocol: 'messages', upstreamModel: 'm', credential: null, cost: undefined };
  return new AttemptLog({ id: 'call_1', createdAt: 0 }, 1, target, 0);
};

describe('whether the prompt of an attempt is spent', () => {
  it('is so once the request has gone up whole, and not while it goes up', () => {
    const attempt = anAttempt();
    expect(attempt.isPromptSpent).toBe(false);
    attempt.connected();
    expect(attempt.isPromptSpent).toBe(false);
    attempt.sent();
    expect(attempt.isPromptSpent).toBe(true);
  });

  it('is not so when the upstream has refused it, or the connection failed before it answered', () => {
    const [refused, failed] = [anAttempt(), anAttempt()];
    for (const attempt of [refused, failed]) attempt.sent();
    refused.headers(429);
    failed.finish('upstream_unreachable');
    expect([refused.isPromptSpent, failed.isPromptSpent]).toEqual([false, false]);
  });

  it('is so when the upstream has begun to answer, whatever becomes of that', () => {
    const attempt = anAttempt();
    attempt.headers(200);
    attempt.finish('upstream_truncated');
    expect(attempt.isPromptSpent).toBe(true);
  });
});
