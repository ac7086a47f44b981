import { AttemptLog } from './attempt-log.js';

const anAttempt = (): AttemptLog => {
  const target = { channel: 'c', protocol: 'messages', upstreamModel: 'm', credential: null, cost: undefined };
  return new AttemptLog({ id: 'call_1', createdAt: 0 }, 1, target, 0);
};

describe('the prompt of an attempt', () => {
  it('is spent once the request was sent completely, not before', () => {
    const attempt = anAttempt();
    expect(attempt.isPromptSpent).toBe(false);
    attempt.connected();
    expect(attempt.isPromptSpent).toBe(false);
    attempt.sent();
    expect(attempt.isPromptSpent).toBe(true);
  });

  it('is not spent when the upstream rejected it or the connection failed before a response', () => {
    const [refused, failed] = [anAttempt(), anAttempt()];
    for (const attempt of [refused, failed]) attempt.sent();
    refused.headers(429);
    failed.finish('upstream_unreachable');
    expect([refused.isPromptSpent, failed.isPromptSpent]).toEqual([false, false]);
  });

  it('is spent once the upstream has started to respond, whatever follows', () => {
    const attempt = anAttempt();
    attempt.headers(200);
    attempt.finish('upstream_truncated');
    expect(attempt.isPromptSpent).toBe(true);
  });
});
