import { SeededRandom } from '../../../../test/support/seeded-random.js';
import type { CooldownReason } from '../health/cooldown.js';
import { affinityOf, drawTime, Shortage } from './channel-status.js';

const ROUNDS = 10_000;
const WEIGHTS = { a: 100, b: 300, c: 600 } as const;
type Name = keyof typeof WEIGHTS;
const NAMES = Object.keys(WEIGHTS) as Name[];

const drawn = (rings: (name: Name) => number, names: readonly Name[] = NAMES): Name | undefined =>
  names.map((name) => ({ name, at: rings(name) })).toSorted((one, other) => one.at - other.at)[0]?.name;

/** How often each is drawn, of all rounds. */
function shares(draw: (round: number) => Name | undefined): Record<Name, number> {
  const counts = { a: 0, b: 0, c: 0 };
  for (let round = 0; round < ROUNDS; round += 1) counts[draw(round)!] += 1 / ROUNDS;
  return counts;
}

describe('a weighted draw', () => {
  const random = new SeededRandom(42);
  const byChance = (): Name | undefined => drawn((name) => drawTime(WEIGHTS[name], name, undefined, random));
  const byAffinity = (round: number, names?: readonly Name[]): Name | undefined =>
    drawn((name) => drawTime(WEIGHTS[name], name, affinityOf('acc_1', `session ${round}`), random), names);

  it.each<[string, (round: number) => Name | undefined]>([
    ['chance', byChance],
    ['affinity', (round) => byAffinity(round)],
  ])('by %s selects each in proportion to its weight', (_, draw) => {
    const { a, b, c } = shares(draw);
    expect(a).toBeCloseTo(0.1, 1.7);
    expect(b).toBeCloseTo(0.3, 1.7);
    expect(c).toBeCloseTo(0.6, 1.7);
  });

  it('keeps a conversation on its channel and moves it only when that channel is unavailable', () => {
    for (let round = 0; round < 1000; round += 1) {
      const whole = byAffinity(round);
      expect(byAffinity(round)).toBe(whole);
      const without = byAffinity(round, ['a', 'b']);
      if (whole !== 'c') expect(without).toBe(whole);
    }
  });

  it('distinguishes accounts, and names that concatenate to the same text', () => {
    expect(affinityOf('acc_1', 'x')).not.toBe(affinityOf('acc_2', 'x'));
    expect(affinityOf('acc_1', 'x')).not.toBe(affinityOf('acc_1x'));
  });
});

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
      'No provider is available for the model "large" right now. Please try again in 17s. If this persists, contact an administrator.',
    );
  });

  it('is a rate limit error when all channels are rate-limited', () => {
    const shortage = new Shortage(NOW);
    shortage.add(coolingDown('rate_limit', 300_000));
    expect(shortage.errorFor('large')).toMatchObject({
      kind: 'rate_limit_exceeded',
      message: 'All providers of the model "large" are at their rate limits. Please try again in 60s.',
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
