import fc from 'fast-check';
import { HeldClock } from '../../../test/support/held-clock.js';
import type { RateLimit, ConcurrencySlot, Taking } from './counts.js';
import { MemoryCounts, PLACE_WAIT_MS } from './memory-counts.js';

const WINDOW_MS = 60_000;
const count = (key: string, limit: number, amount = 1): RateLimit => ({ key, windowMs: WINDOW_MS, limit, amount });
const taking = (id: string, counts: readonly RateLimit[], places: readonly ConcurrencySlot[] = []): Taking => ({
  id,
  counts,
  places,
});

describe('MemoryCounts', () => {
  let clock: HeldClock;
  let counts: MemoryCounts;
  beforeEach(() => {
    clock = new HeldClock();
    counts = new MemoryCounts(clock);
  });
  const back = (id: string): void => counts.giveBack({ id, places: [], corrections: [] });

  it('takes nothing when any count or place is exhausted', () => {
    const asked = taking('a', [count('requests', 10), count('tokens', 100, 60)], [{ key: 'running', limit: 5 }]);
    expect(counts.decide(asked).refusal).toBeUndefined();
    const refused = counts.decide({ ...asked, id: 'b' });
    expect(refused.refusal?.which).toBe(1);
    expect(refused.standings.map(({ used }) => used)).toEqual([1, 60]);
    expect(counts.size).toEqual({ windows: 2, places: 1 });
  });

  it('reports the limit with the longest wait', () => {
    counts.decide(taking('a', [count('requests', 1)], [{ key: 'running', limit: 1 }]));
    const { refusal } = counts.decide(taking('b', [count('requests', 1)], [{ key: 'running', limit: 1 }]));
    expect(refusal?.which).toBe(0);
    expect(refusal?.waitMs).toBeGreaterThan(PLACE_WAIT_MS);
    const never = counts.decide(taking('c', [count('requests', 1), count('tokens', 5, 6)]));
    expect(never.refusal).toEqual({ which: 1, waitMs: undefined });
  });

  it('rejects without a retry time when the limit is zero', () => {
    expect(counts.decide(taking('a', [count('requests', 0)])).refusal).toEqual({ which: 0, waitMs: undefined });
    expect(counts.decide(taking('b', [], [{ key: 'running', limit: 0 }])).refusal).toEqual({
      which: 0,
      waitMs: undefined,
    });
  });

  it('returns places only once', () => {
    const place = [{ key: 'running', limit: 2 }];
    counts.decide(taking('a', [], place));
    counts.decide(taking('b', [], place));
    back('a');
    back('a');
    expect(counts.decide(taking('c', [], place)).refusal).toBeUndefined();
    expect(counts.decide(taking('d', [], place)).refusal).toEqual({ which: 0, waitMs: PLACE_WAIT_MS });
  });

  it('never runs more than the places, and frees all places at the end', () => {
    const steps = fc.array(fc.record({ take: fc.boolean(), key: fc.constantFrom('a', 'b'), pick: fc.nat() }), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const own = new MemoryCounts(clock);
        let running: { readonly id: string; readonly key: string }[] = [];
        for (const [index, { take, key, pick }] of list.entries()) {
          const id = String(index);
          const before = running.filter((one) => one.key === key).length;
          if (take) {
            const { refusal } = own.decide(taking(id, [], [{ key, limit: 3 }]));
            expect(refusal === undefined).toBe(before < 3);
            if (refusal === undefined) running.push({ id, key });
          } else if (running.length > 0) {
            const ended = running[pick % running.length]!;
            running = running.filter((one) => one !== ended);
            own.giveBack({ id: ended.id, places: [ended.key], corrections: [] });
          }
        }
        for (const { id, key } of running) own.giveBack({ id, places: [key], corrections: [] });
        expect(own.size.places).toBe(0);
        for (const index of [1, 2, 3])
          expect(own.decide(taking(`end ${index}`, [], [{ key: 'a', limit: 3 }])).refusal).toBeUndefined();
      }),
    );
  });

  it('drops counts unused for two minutes', () => {
    for (let index = 0; index < 1000; index += 1) counts.decide(taking('a', [count(`address ${index}`, 5)]));
    clock.pass(121);
    for (let index = 0; index < 1000; index += 1) counts.decide(taking('b', [count('the same', 5000)]));
    counts.decide(taking('c', [count('another', 5)]));
    for (let index = 0; index < 600; index += 1) counts.decide(taking('d', [count(`new ${index}`, 5)]));
    expect(counts.size.windows).toBeLessThanOrEqual(602);
  });

  it('stays within its maximum, dropping the least recently used', () => {
    const small = new MemoryCounts(clock, 100);
    for (let index = 0; index < 10_000; index += 1) small.decide(taking('a', [count(`address ${index}`, 5)]));
    expect(small.size.windows).toBeLessThanOrEqual(100);
  });

  it('continues from a correction', () => {
    const { standings } = counts.decide(taking('a', [count('tokens', 100, 40)]));
    const window = standings[0]!.window;
    const correct = (amount: number): void =>
      counts.giveBack({ id: 'a', places: [], corrections: [{ key: 'tokens', windowMs: WINDOW_MS, window, amount }] });
    const used = (): number => counts.decide(taking('look', [count('tokens', 1000, 0)])).standings[0]!.used;
    correct(-30);
    expect(used()).toBe(10);
    correct(500);
    expect(used()).toBe(510);
    expect(counts.decide(taking('b', [count('tokens', 100, 1)])).refusal?.waitMs).toBeGreaterThan(60_000);
  });
});
