import { dayOf, midnightOf, nextMidnight } from './local-days.js';

describe('days of a time zone', () => {
  it.each([
    ['2026-11-20', 'UTC', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20', 'Europe/Berlin', '2026-11-19T23:00:00.000Z'],
    ['2026-07-20', 'Europe/Berlin', '2026-07-19T22:00:00.000Z'],
    // The clocks change in the night after this midnight, or before it.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
    ['2026-11-20', 'Asia/Kathmandu', '2026-11-19T18:15:00.000Z'],
    ['2026-11-20', 'America/St_Johns', '2026-11-20T03:30:00.000Z'],
    ['2024-02-29', 'Pacific/Auckland', '2024-02-28T11:00:00.000Z'],
  ])('%s begins in %s at %s', (day, timeZone, midnight) => {
    expect(midnightOf(day, timeZone)?.toISOString()).toBe(midnight);
    expect(dayOf(new Date(midnight), timeZone)).toBe(day);
    expect(dayOf(new Date(Date.parse(midnight) - 1), timeZone)).not.toBe(day);
  });

  it('end where the next one begins, shorter or longer when the clocks change', () => {
    const hours = (day: string): number =>
      (nextMidnight(day, 'Europe/Berlin')!.getTime() - midnightOf(day, 'Europe/Berlin')!.getTime()) / 3_600_000;
    expect([hours('2026-03-29'), hours('2026-10-25'), hours('2026-12-31')]).toEqual([23, 25, 24]);
  });

  it.each(['', '2026-13-01', '2026-02-30', '20.11.2026', '2026-11-20T00:00', '99999-01-01', "2026-11-20'"])(
    'are not %j',
    (text) => {
      expect(midnightOf(text, 'UTC')).toBeUndefined();
      expect(nextMidnight(text, 'UTC')).toBeUndefined();
    },
  );
});
