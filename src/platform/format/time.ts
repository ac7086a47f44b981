// Times in the reader's time zone: 20 Nov 2026, 14:32.

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached: creating a formatter takes longer than rendering a page. Unknown zones are shown as UTC. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = newFormat(timeZone);
  formats.set(timeZone, format);
  return format;
}

function newFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
      hourCycle: 'h23',
      timeZoneName: 'short',
    });
  } catch (error) {
    if (!(error instanceof RangeError) || timeZone === 'UTC') throw error;
    return formatOf('UTC');
  }
}

function partsOf(at: Date, timeZone: string): Readonly<Partial<Record<Intl.DateTimeFormatPartTypes, string>>> {
  return Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
}

/** `20 Nov`. */
export function shortDay(at: Date, timeZone: string): string {
  const { day = '', month = '' } = partsOf(at, timeZone);
  return `${Number(day)} ${MONTHS[Number(month) - 1]}`;
}

/** `20 Nov 2026`. */
export const calendarDate = (at: Date, timeZone: string): string =>
  `${shortDay(at, timeZone)} ${partsOf(at, timeZone).year}`;

/** The smallest unit that is shown. */
export type Precision = 'minutes' | 'seconds' | 'milliseconds';

/** `14:32`, `14:32:07` or `14:32:07.318`. */
export function clockTime(at: Date, timeZone: string, precision: Precision = 'seconds'): string {
  const { hour, minute, second, fractionalSecond } = partsOf(at, timeZone);
  if (precision === 'minutes') return `${hour}:${minute}`;
  return `${hour}:${minute}:${second}${precision === 'milliseconds' ? `.${fractionalSecond}` : ''}`;
}

/** `20 Nov 2026, 14:32`. */
export const dateTime = (at: Date, timeZone: string, precision: Precision = 'minutes'): string =>
  `${calendarDate(at, timeZone)}, ${clockTime(at, timeZone, precision)}`;

/** `CET`: the zone's abbreviation at that time. */
export const zoneName = (at: Date, timeZone: string): string => partsOf(at, timeZone).timeZoneName ?? timeZone;

/** `2 h ago` or `in 3 h` within a day, else the date. */
export function ago(at: Date, now: Date, timeZone: string): string {
  const past = now.getTime() - at.getTime();
  const distance = Math.abs(past);
  if (distance >= DAY_MS) return calendarDate(at, timeZone);
  if (distance < MINUTE_MS) return past >= 0 ? 'just now' : 'in a moment';
  const [size, name] = distance < HOUR_MS ? ([MINUTE_MS, 'min'] as const) : ([HOUR_MS, 'h'] as const);
  const number = Math.floor(distance / size);
  const words = `${number} ${name}`;
  return past >= 0 ? `${words} ago` : `in ${words}`;
}
