import { jest } from '@jest/globals';
import { addDays, dayOf, isDay, localMinute, momentOf, startOfDay, within } from './clock.js';

describe('days in time zones', () => {
  it.each([
    ['2026-11-20', 'UTC', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20', 'Europe/Berlin', '2026-11-19T23:00:00.000Z'],
    ['2026-07-01', 'Europe/Berlin', '2026-06-30T22:00:00.000Z'],
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
    ['2026-11-20', 'Pacific/Kiritimati', '2026-11-19T10:00:00.000Z'],
    ['2026-11-20', 'America/Los_Angeles', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20', 'Asia/Kathmandu', '2026-11-19T18:15:00.000Z'],
    // Clocks go from 00:00 to 01:00, east and west of Greenwich: that day has no midnight.
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00.000Z'],
    ['2026-03-29', 'Atlantic/Azores', '2026-03-29T01:00:00.000Z'],
    ['2026-03-08', 'America/Havana', '2026-03-08T05:00:00.000Z'],
    // Clocks go from 24:00 back to 23:00, and from 01:00 back to 00:00: the day begins once, and early.
    ['2026-04-05', 'America/Santiago', '2026-04-05T04:00:00.000Z'],
    ['2026-11-01', 'America/Havana', '2026-11-01T04:00:00.000Z'],
  ])('%s begins in %s at %s', (day, zone, start) => {
    const begins = startOfDay(day, zone);
    expect(begins.toISOString()).toBe(start);
    expect(dayOf(begins, zone)).toBe(day);
    expect(dayOf(new Date(begins.getTime() - 1), zone)).toBe(addDays(day, -1));
  });

  it('begin as in UTC when the zone skipped the day', () => {
    expect(startOfDay('2011-12-30', 'Pacific/Apia').toISOString()).toBe('2011-12-30T00:00:00.000Z');
  });

  it('reject invalid dates', () => {
    for (const day of ['2026-01-01', '2024-02-29', '2026-12-31']) expect(isDay(day)).toBe(true);
    for (const text of ['2026-02-29', '2026-13-01', '2026-1-1', '20261120', '', 'tomorrow', '2026-11-20T00:00'])
      expect(isDay(text)).toBe(false);
  });

  it('continue across months and years', () => {
    expect([addDays('2026-12-31', 1), addDays('2026-03-01', -1), addDays('2026-11-20', 7)]).toEqual([
      '2027-01-01',
      '2026-02-28',
      '2026-11-27',
    ]);
  });
});

describe('local times', () => {
  it.each([
    ['2026-11-20T09:30', 'UTC', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30', 'Europe/Berlin', '2026-11-20T08:30:00.000Z'],
    ['2026-07-01T09:30', 'Europe/Berlin', '2026-07-01T07:30:00.000Z'],
    ['2026-11-20T00:00', 'Pacific/Kiritimati', '2026-11-19T10:00:00.000Z'],
    // Shown twice, as clocks go back from 03:00 to 02:00: the first counts.
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2026-11-01T01:30', 'America/New_York', '2026-11-01T05:30:00.000Z'],
  ])('%s in %s is %s, and formats back to its input', (minute, zone, moment) => {
    expect(momentOf(minute, zone)?.toISOString()).toBe(moment);
    expect(localMinute(new Date(moment), zone)).toBe(minute);
  });

  it('skipped by a clock change move forward by it', () => {
    expect(momentOf('2026-03-29T02:30', 'Europe/Berlin')?.toISOString()).toBe('2026-03-29T01:30:00.000Z');
    expect(momentOf('2026-03-08T02:30', 'America/New_York')?.toISOString()).toBe('2026-03-08T07:30:00.000Z');
  });

  it.each(['', 'tomorrow', '2026-11-20', '2026-02-30T09:30', '2026-11-20T25:00', '2026-11-20 09:30'])(
    '“%s” is no time',
    (text) => {
      expect(momentOf(text, 'Europe/Berlin')).toBeUndefined();
    },
  );
});

const never = new Promise<never>(() => undefined);

describe('within', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('resolves with the promise, and leaves no timer behind', async () => {
    await expect(within(Promise.resolve('answer'), 1000)).resolves.toBe('answer');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects with the promise, and leaves no timer behind', async () => {
    await expect(within(Promise.reject(new Error('refused')), 1000)).rejects.toThrow('refused');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('resolves with undefined at the limit, not before', async () => {
    let outcome: unknown = 'waiting';
    void within(never, 1000).then((result) => (outcome = result));
    await jest.advanceTimersByTimeAsync(999);
    expect(outcome).toBe('waiting');
    await jest.advanceTimersByTimeAsync(1);
    expect(outcome).toBeUndefined();
  });
});
