// When seeded calls were made.
import type { Span } from './months.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** What has just been made may still be on its way to the log. */
const SETTLED_MS = 5000;

/** So many calls, evenly over the last days up to now. */
export function lastDays(days: number, rows: number, now = Date.now()): readonly Span[] {
  const to = now - SETTLED_MS;
  return byMonth(to - days * DAY_MS, to, rows);
}

/** Seven in ten of them in this month, the others evenly over so many months before. */
export function mostlyThisMonth(monthsBefore: number, rows: number, now = Date.now()): readonly Span[] {
  const to = now - SETTLED_MS;
  const first = monthOf(to, 0);
  const recent = Math.round(rows * 0.7);
  return [...byMonth(monthOf(to, -monthsBefore), first, rows - recent), { from: first, to, rows: recent }];
}

/** Cut where a month of UTC ends: none of the calls is lost. */
function byMonth(from: number, to: number, rows: number): readonly Span[] {
  const bounds = [from];
  for (let next = monthOf(from, 1); next < to; next = monthOf(next, 1)) bounds.push(next);
  bounds.push(to);
  const until = (moment: number): number => Math.round((rows * (moment - from)) / (to - from));
  return bounds.slice(0, -1).flatMap((begin, index) => {
    const end = bounds[index + 1] ?? to;
    const span = { from: begin, to: end, rows: until(end) - until(begin) };
    return span.rows === 0 ? [] : [span];
  });
}

/** The first moment of the month so many months later. */
function monthOf(moment: number, later: number): number {
  const date = new Date(moment);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later);
}
