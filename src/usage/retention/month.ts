/** A month in UTC, as partitions are named by it: `2026_09`. In this form months sort by time. */
export type Month = string;

export const monthOf = (at: Date): Month => at.toISOString().slice(0, 7).replace('-', '_');

/** The first moment of a month, or of one so many months later. */
export function startOf(month: Month, later = 0): Date {
  const [year, number] = month.split('_');
  return new Date(Date.UTC(Number(year), Number(number) - 1 + later, 1));
}

/** The oldest month that is kept, when so many whole ones are kept beside that of this moment. */
export const oldestStoredMonth = (now: Date, months: number): Month => monthOf(startOf(monthOf(now), -months));
