import { monthOf, oldestStoredMonth, startOf } from './partitions.js';

describe('a month', () => {
  it('is that of UTC, and sorts by time', () => {
    expect(monthOf(new Date('2026-08-31T23:59:59.999-01:00'))).toBe('2026_09');
    expect(monthOf(new Date('2026-12-31T23:59:59Z')) < monthOf(new Date('2027-01-01T00:00:00Z'))).toBe(true);
    expect(startOf('2026_09').toISOString()).toBe('2026-09-01T00:00:00.000Z');
    expect(startOf('2026_12', 1).toISOString()).toBe('2027-01-01T00:00:00.000Z');
  });

  it.each([
    ['2026-11-23T10:00:00Z', 1, '2026_10'],
    ['2026-11-01T00:00:00Z', 1, '2026_10'],
    ['2026-10-31T23:59:59Z', 1, '2026_09'],
    ['2026-11-23T10:00:00Z', 12, '2025_11'],
    ['2027-03-31T10:00:00Z', 13, '2026_02'],
  ])('is kept, at %s with %d months, from %s on', (now, months, oldest) => {
    expect(oldestStoredMonth(new Date(now), months)).toBe(oldest);
  });
});
