/** The time of day; injected everywhere, so that a test can hold it still. */
export class Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number {
    return Date.now();
  }

  date(): Date {
    return new Date(this.now());
  }
}

/** Milliseconds that only ever grow, for durations: the wall clock may be set back while a call runs. */
export const monotonicMs = (): number => performance.now();

const ISO = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** An ISO date or time; UTC where it names no zone, so that it means the same everywhere. Undefined for other texts. */
export function parseTime(text: string): Date | undefined {
  const match = ISO.exec(text);
  const zoned = match && text.includes('T') && match[1] === undefined ? `${text}Z` : text;
  const time = new Date(zoned);
  return match && !Number.isNaN(time.getTime()) && isRealDate(text.slice(0, 10)) ? time : undefined;
}

/** JavaScript takes the 31st of February for the 3rd of March. */
const isRealDate = (date: string): boolean => new Date(date).toISOString().startsWith(date);

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making one takes long; there are as many as people have zones. */
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

/** What a clock on a wall of that zone shows, as if it were UTC: milliseconds since 1970. */
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
 * The first moment of a day (`2026-11-20`) in a zone. That is not always midnight: where clocks are put forward then, the
 * day begins an hour later. A day that a zone left out begins where it does in UTC.
 */
export function startOfDay(day: string, timeZone: string): Date {
  const wanted = Date.parse(`${day}T00:00:00Z`);
  // Clocks may change at that midnight or near it: it is there by the offset before, or by the one after.
  const starts = [wanted - DAY_MS, wanted + DAY_MS]
    .map((near) => new Date(wanted - (wallTime(near, timeZone) - near)))
    .filter((start) => dayOf(start, timeZone) === day);
  return new Date(Math.min(...(starts.length > 0 ? starts.map(Number) : [wanted])));
}

/** Whether the text is a day that there is: `2026-02-29` is not. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** Adds days, which may be negative. */
export function addDays(day: string, days: number): string {
  const at = new Date(`${day}T00:00:00Z`);
  at.setUTCDate(at.getUTCDate() + days);
  return at.toISOString().slice(0, 10);
}

const MINUTE = 'YYYY-MM-DDTHH:MM'.length;

/** What the clocks of a zone show at a moment, to the minute: `2026-11-20T09:30`. */
export const localMinute = (at: Date, timeZone: string): string =>
  new Date(wallTime(at.getTime(), timeZone)).toISOString().slice(0, MINUTE);

/**
 * The moment at which the clocks of a zone show such a minute (`2026-11-20T09:30`): the first, where they show it twice;
 * where they leave it out, as long after as they were put forward. Undefined for what is no time.
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
 * What the promise resolves with, or undefined when that takes longer: waiting, but not for ever. Rejects when the
 * promise does in time; the promise itself goes on either way, and a later rejection of it is nobody's.
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
