import { addHistograms, boundsOf, bucketOf, histogramOf, percentilesOf } from './latencies.js';

const HOUR_MS = 3_600_000;

/** A histogram of these times. */
const of = (...times: readonly number[]): number[] => {
  const counts: number[] = [];
  for (const ms of times) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
  return Array.from(counts, (count) => count ?? 0);
};

describe('the buckets that times are counted in', () => {
  it('hold every millisecond up to an hour, each within its bounds, in order', () => {
    const misplaced: number[] = [];
    let before = bucketOf(1);
    for (let ms = 1; ms <= HOUR_MS; ms += ms < 100_000 ? 1 : 97) {
      const bucket = bucketOf(ms);
      const [firstMs, lastMs] = boundsOf(bucket);
      if (ms < firstMs || ms > lastMs || bucket < before) misplaced.push(ms);
      before = bucket;
    }
    expect(misplaced).toEqual([]);
  });

  it('are no wider than a tenth of where they begin', () => {
    for (let ms = 1; ms <= HOUR_MS; ms = boundsOf(bucketOf(ms))[1] + 1) {
      const [firstMs, lastMs] = boundsOf(bucketOf(ms));
      expect(firstMs).toBe(ms);
      expect(lastMs - firstMs).toBeLessThanOrEqual(firstMs / 10);
    }
  });

  it('take what lasts longer than the last one into it, and no time as the shortest', () => {
    expect(bucketOf(2 ** 22)).toBe(219);
    expect(bucketOf(2 ** 31 - 1)).toBe(219);
    expect(bucketOf(0)).toBe(bucketOf(1));
  });

  it.each([
    [1, 0],
    [2, 10],
    [3, 15],
    [1000, 99],
    [1024, 100],
    [1127, 101],
    [HOUR_MS, 217],
  ])('have %d ms in bucket %d', (ms, bucket) => {
    expect(bucketOf(ms)).toBe(bucket);
  });
});

describe('a histogram', () => {
  it('is read from the digits of one number, twelve for each bucket', () => {
    expect(histogramOf('3000000000012000000000000')).toEqual([0, 12, 3]);
    expect(histogramOf('7')).toEqual([7]);
    expect(histogramOf('0')).toEqual([0]);
    expect(histogramOf(null)).toEqual([]);
  });

  it('is added to another one', () => {
    expect(addHistograms([1, 2], [0, 1, 5])).toEqual([1, 3, 5]);
  });

  it('has the median and the 95th percentile of its calls, by the middle of their buckets', () => {
    expect(percentilesOf(of(5, 6, 7))).toEqual({ medianMs: 6, p95Ms: 7 });
    // 282 to 307 ms, and 487 to 511 ms.
    expect(percentilesOf(of(100, 300, 500))).toEqual({ medianMs: 295, p95Ms: 499 });
    // The 95th of a hundred, not the 96th.
    expect(percentilesOf(of(...Array<number>(95).fill(5), ...Array<number>(5).fill(9)))).toEqual({
      medianMs: 5,
      p95Ms: 5,
    });
  });

  it('has none where it is empty', () => {
    expect(percentilesOf([])).toBeUndefined();
    expect(percentilesOf([0, 0])).toBeUndefined();
  });
});
