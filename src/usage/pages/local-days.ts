const DAY_MS = 24 * 60 * 60 * 1000;
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Midnight of a day (`2026-11-20`) somewhere; undefined for any other text. */
export function midnightOf(day: string, timeZone: string): Date | undefined {
  const [, year = '', month = '', date = ''] = DAY.exec(day) ?? [];
  const inUtc = Date.UTC(Number(year), Number(month) - 1, Number(date));
  if (year === '' || Number.isNaN(inUtc) || new Date(inUtc).toISOString().slice(0, 10) !== day) return undefined;
  // The offset at that time is found in two steps: the first guess may lie on the other side of a change of the clocks.
  const guess = inUtc - offsetAt(inUtc, timeZone);
  return new Date(inUtc - offsetAt(guess, timeZone));
}

/** The midnight after it. */
export function nextMidnight(day: string, timeZone: string): Date | undefined {
  if (midnightOf(day, timeZone) === undefined) return undefined;
  return midnightOf(new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10), timeZone);
}

/** The day that a moment lies in somewhere: `2026-11-20`. */
export const dayOf = (at: Date, timeZone: string): string =>
  new Date(at.getTime() + offsetAt(at.getTime(), timeZone)).toISOString().slice(0, 10);

/** What the clocks there are ahead of UTC, in ms. */
function offsetAt(epochMs: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset', year: 'numeric' });
  const name = format.formatToParts(epochMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
