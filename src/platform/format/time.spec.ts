import { ago, calendarDate, dateTime, shortDay, clockTime, zoneName } from './time.js';

const BERLIN = 'Europe/Berlin';

describe('times on pages', () => {
  it.each([
    ['2026-11-20T13:32:07.318Z', 'UTC', '20 Nov 2026, 13:32:07.318', 'UTC'],
    ['2026-11-20T13:32:07.318Z', BERLIN, '20 Nov 2026, 14:32:07.318', 'CET'],
    ['2026-09-01T23:30:00.000Z', BERLIN, '2 Sep 2026, 01:30:00.000', 'CEST'],
    ['2026-12-31T23:59:59.999Z', 'Asia/Kathmandu', '1 Jan 2027, 05:44:59.999', 'GMT+5:45'],
    ['2026-11-20T00:00:00.000Z', 'America/New_York', '19 Nov 2026, 19:00:00.000', 'GMT-5'],
  ])('%s in %s is %s %s', (iso, zone, text, name) => {
    expect(dateTime(new Date(iso), zone, 'milliseconds')).toBe(text);
    expect(zoneName(new Date(iso), zone)).toBe(name);
  });

  it('distinguishes the two hours of a clock set back', () => {
    const [before, after] = [new Date('2026-10-25T00:30:00Z'), new Date('2026-10-25T01:30:00Z')];
    expect([clockTime(before, BERLIN), clockTime(after, BERLIN)]).toEqual(['02:30:00', '02:30:00']);
    expect([zoneName(before, BERLIN), zoneName(after, BERLIN)]).toEqual(['CEST', 'CET']);
  });

  it('skips the hour of a clock set forward', () => {
    expect(clockTime(new Date('2026-03-29T00:59:59Z'), BERLIN)).toBe('01:59:59');
    expect(clockTime(new Date('2026-03-29T01:00:00Z'), BERLIN)).toBe('03:00:00');
  });

  it('shows midnight as 00:00', () => {
    expect(dateTime(new Date('2026-11-20T23:00:00Z'), BERLIN)).toBe('21 Nov 2026, 00:00');
  });

  it('falls back to UTC for unknown zones', () => {
    expect(clockTime(new Date('2026-11-20T13:32:07Z'), 'Middle/Earth')).toBe('13:32:07');
  });

  it('formats days with and without year', () => {
    const at = new Date('2026-05-03T12:00:00Z');
    expect([calendarDate(at, 'UTC'), shortDay(at, 'UTC')]).toEqual(['3 May 2026', '3 May']);
  });

  it.each([
    ['2026-11-20T13:35:30Z', 'just now'],
    ['2026-11-20T13:34:00Z', '2 min ago'],
    ['2026-11-20T07:36:02Z', '6 h ago'],
    ['2026-11-19T13:36:03Z', '23 h ago'],
    ['2026-11-19T13:36:02Z', '19 Nov 2026'],
    ['2026-11-20T16:36:02Z', 'in 3 h'],
    ['2026-11-23T13:36:02Z', '23 Nov 2026'],
  ])('%s relative to now is %s', (iso, text) => {
    expect(ago(new Date(iso), new Date('2026-11-20T13:36:02Z'), BERLIN)).toBe(text);
  });
});
