import { Random } from './random.js';
import { weightedOrder } from './weighted-order.js';

/** Linear congruential: the same numbers in every run. */
class SeededRandom extends Random {
  private state = 42;

  override next(): number {
    this.state = (this.state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return this.state / 2 ** 32;
  }
}

const entry = (name: string, tier: number, weight: number): { name: string; tier: number; weight: number } => ({
  name,
  tier,
  weight,
});

describe('weightedOrder', () => {
  it('never tries a later tier before an earlier one', () => {
    const random = new SeededRandom();
    const entries = [entry('late', 2, 1000), entry('first', 1, 1), entry('last', 3, 1000)];
    for (let round = 0; round < 100; round++)
      expect(weightedOrder(entries, random).map(({ name }) => name)).toEqual(['first', 'late', 'last']);
  });

  it('tries each channel of a tier first as often as its share of the weights', () => {
    const random = new SeededRandom();
    const entries = [entry('a', 1, 100), entry('b', 1, 300)];
    const rounds = 10_000;
    let first = 0;
    for (let round = 0; round < rounds; round++) if (weightedOrder(entries, random)[0]?.name === 'b') first++;
    expect(first / rounds).toBeGreaterThan(0.73);
    expect(first / rounds).toBeLessThan(0.77);
  });

  it('tries weight 0 last in its tier, even when chance is at its end', () => {
    const zero = Object.assign(new Random(), { next: () => 0 });
    for (const random of [zero, new SeededRandom()])
      expect(weightedOrder([entry('spare', 1, 0), entry('main', 1, 1)], random).map(({ name }) => name)).toEqual([
        'main',
        'spare',
      ]);
  });

  it('loses and repeats nobody', () => {
    const entries = Array.from({ length: 50 }, (_, index) => entry(String(index), index % 3, index % 5));
    expect(new Set(weightedOrder(entries, new SeededRandom()))).toEqual(new Set(entries));
  });
});
