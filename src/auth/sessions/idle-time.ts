const DAY_HOURS = 24;

/** As pages say it: `1 hour`, `36 hours`, `14 days`. */
export function idleTime(hours: number): string {
  if (hours % DAY_HOURS === 0 && hours > DAY_HOURS) return `${hours / DAY_HOURS} days`;
  return hours === 1 ? '1 hour' : `${hours} hours`;
}
