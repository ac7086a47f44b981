/** The current time; injected, so that tests can control it. */
export class Clock {
  /** Unix time in ms. */
  now(): number {
    return Date.now();
  }

  date(): Date {
    return new Date(this.now());
  }
}

/** Monotonic milliseconds, for durations: the wall clock may be set back during a call. */
export const monotonicMs = (): number => performance.now();

const ISO = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Parses an ISO date or time; UTC unless it has a zone. Undefined for other texts. */
export function parseTime(text: string): Date | undefined {
  const match = ISO.exec(text);
  const zoned = match && text.includes('T') && match[1] === undefined ? `${text}Z` : text;
  const time = new Date(zoned);
  return match && !Number.isNaN(time.getTime()) && isRealDate(text.slice(0, 10)) ? time : undefined;
}

/** JavaScript parses February 31 as March 3. */
const isRealDate = (date: string): boolean => new Date(date).toISOString().startsWith(date);

const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached, because creating a formatter is slow; bounded by the number of time zones. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  formats.set(timeZone, format);
  return format;
}

/** The wall-clock time of a zone as if it were UTC, in ms since 1970. */
function wallTime(at: number, timeZone: string): number {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return Date.parse(
    `${parts['year']}-${parts['month']}-${parts['day']}T${parts['hour']}:${parts['minute']}:${parts['second']}Z`,
  );
}

/** The day on which a moment falls in a zone: `2026-11-20`. */
export const dayOf = (at: Date, timeZone: string): string =>
  new Date(wallTime(at.getTime(), timeZone)).toISOString().slice(0, 10);

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The first moment of a day (`2026-11-20`) in a zone. Not always midnight: where clocks are set forward at midnight,
 * the day begins an hour later. A day that a zone skipped begins as in UTC.
 */
export function startOfDay(day: string, timeZone: string): Date {
  const wanted = Date.parse(`${day}T00:00:00Z`);
  // Clocks may change at or near that midnight: use the offset before it or the one after it.
  const starts = [wanted - DAY_MS, wanted + DAY_MS]
    .map((near) => new Date(wanted - (wallTime(near, timeZone) - near)))
    .filter((start) => dayOf(start, timeZone) === day);
  return new Date(Math.min(...(starts.length > 0 ? starts.map(Number) : [wanted])));
}

/** Whether the date exists: `2026-02-29` does not. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** Days may be negative. */
export function addDays(day: string, days: number): string {
  const at = new Date(`${day}T00:00:00Z`);
  at.setUTCDate(at.getUTCDate() + days);
  return at.toISOString().slice(0, 10);
}

const MINUTE = 'YYYY-MM-DDTHH:MM'.length;

/** Wall-clock time in a zone, to the minute: `2026-11-20T09:30`. */
export const localMinute = (at: Date, timeZone: string): string =>
  new Date(wallTime(at.getTime(), timeZone)).toISOString().slice(0, MINUTE);

/**
 * The moment of a wall-clock time (`2026-11-20T09:30`) in a zone. If it occurs twice, the first; if it is skipped,
 * shifted by the length of the gap. Undefined for invalid times.
 */
export function momentOf(minute: string, timeZone: string): Date | undefined {
  const wanted = Date.parse(`${minute.slice(0, MINUTE)}:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(minute) || Number.isNaN(wanted) || !isDay(minute.slice(0, 10)))
    return undefined;
  const [before = wanted, after = wanted] = [wanted - DAY_MS, wanted + DAY_MS].map(
    (near) => wanted - (wallTime(near, timeZone) - near),
  );
  const shown = [before, after].filter((moment) => wallTime(moment, timeZone) === wanted);
  return new Date(shown.length > 0 ? Math.min(...shown) : before);
}

/**
 * The promise's value, or undefined if it takes longer than `limitMs`. Rejects if the promise rejects in time. The
 * promise is not cancelled; later rejections are ignored.
 */
export async function within<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, limitMs, undefined)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
