import type { CooldownReason } from '../health/cooldown.js';
import { Shortage } from './channel-status.js';

const NOW = 1_000_000;

const coolingDown = (reason: CooldownReason, ms: number) => ({
  isFull: false,
  cooldowns: [{ subject: 'a channel', id: 'a cooldown', reason, untilMs: NOW + ms, strikes: 1, probeUntilMs: 0 }],
});

describe('Shortage', () => {
  it('states the same wait in the header and the message', () => {
    const shortage = new Shortage(NOW);
    shortage.add(coolingDown('failures', 16_200));
    shortage.add(coolingDown('rate_limit', 40_000));
    const error = shortage.errorFor('large');
    expect(error.details.retryAfterSeconds).toBe(17);
    expect(error.message).toBe(
      'No channel can serve the model "large" right now. Please try again in 17s. If this persists, contact an administrator.',
    );
  });

  it('is a rate limit error when all channels are rate-limited', () => {
    const shortage = new Shortage(NOW);
    shortage.add(coolingDown('rate_limit', 300_000));
    expect(shortage.errorFor('large')).toMatchObject({
      kind: 'rate_limit_exceeded',
      message: 'All channels of the model "large" are at their rate limits. Please try again in 60s.',
      details: { retryAfterSeconds: 60 },
    });
  });

  it('suggests a short wait when a channel is only full', () => {
    const shortage = new Shortage(NOW);
    shortage.add(coolingDown('failures', 30_000));
    shortage.add({ isFull: true, cooldowns: [] });
    expect(shortage.errorFor('large').details.retryAfterSeconds).toBe(1);
  });
});
