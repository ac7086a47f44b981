import type { Visitor } from '../../auth/index.js';
import { Config } from '../../platform/config/index.js';
import { Clock } from '../../platform/shared/index.js';
import { hasExpiredSecret, keepsSecret, sealedIn, SealedSecrets } from './sealed-secrets.js';

const SECRET = 'sk-typed-by-an-administrator';
const MINUTE_MS = 60_000;

describe('SealedSecrets', () => {
  let nowMs = Date.UTC(2026, 10, 27);
  const clock = new (class extends Clock {
    override now(): number {
      return nowMs;
    }
  })();
  const secrets = new SealedSecrets(Config.fromEnvironment({ SECRET_KEY: 'a secret key of 32 characters...' }), clock);
  const visitor = (sessionId: string): Visitor => ({ sessionId }) as Visitor;
  const ANN = visitor('ses_ann');

  /** The page's fields after a secret was typed in its second place. */
  const typed = () => {
    const body = secrets.reopened(ANN, 'channel', { secret: ['', SECRET], _act: 'check' });
    return { secret: ['', ''], _sealed: sealedIn(body) };
  };

  it('keeps a typed secret for the next submission', () => {
    const fields = typed();
    expect(JSON.stringify(fields)).not.toContain(SECRET);
    const body = secrets.reopened(ANN, 'channel', fields);
    expect([body['secret'], keepsSecret(body), hasExpiredSecret(body)]).toEqual([['', SECRET], true, false]);
    expect(keepsSecret(secrets.reopened(ANN, 'channel', { secret: SECRET }))).toBe(false);
  });

  it('prefers a secret that is typed again', () => {
    const body = secrets.reopened(ANN, 'channel', { ...typed(), secret: ['', 'another'] });
    expect([body['secret'], keepsSecret(body)]).toEqual([['', 'another'], false]);
  });

  it('forgets it after 30 minutes, and for other sessions, forms and texts', () => {
    const fields = typed();
    nowMs += 29 * MINUTE_MS;
    expect(secrets.reopened(ANN, 'channel', fields)['secret']).toEqual(['', SECRET]);
    for (const other of [
      secrets.reopened(visitor('ses_bob'), 'channel', fields),
      secrets.reopened(ANN, 'another channel', fields),
      secrets.reopened(ANN, 'channel', { secret: ['', ''], _sealed: ['', 'v1.made-up'] }),
    ])
      expect([other['secret'], sealedIn(other), hasExpiredSecret(other)]).toEqual([['', ''], ['', ''], true]);
    nowMs += 2 * MINUTE_MS;
    expect(hasExpiredSecret(secrets.reopened(ANN, 'channel', fields))).toBe(true);
  });

  it('believes no browser that says a secret was kept', () => {
    const body = secrets.reopened(ANN, 'channel', { secret: '', _secretStates: 'kept' });
    expect(keepsSecret(body)).toBe(false);
  });
});
