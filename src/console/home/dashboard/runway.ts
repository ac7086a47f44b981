/** Further ahead nobody can tell. */
const MAX_DAYS = 366;

/** How many days a balance lasts, to a tenth; undefined where nobody can tell, or where nothing is spent. */
export function daysLeft(balance: bigint, pace: bigint | undefined): number | undefined {
  if (pace === undefined || pace <= 0n || balance <= 0n) return undefined;
  const days = Number((balance * 10n) / pace) / 10;
  return days > MAX_DAYS ? undefined : days;
}

/** `about 25 days`. */
export function daysLeftText(balance: bigint, pace: bigint | undefined): string | undefined {
  const days = daysLeft(balance, pace);
  if (days === undefined) return undefined;
  if (days < 1) return 'less than a day';
  return days < 2 ? 'about a day' : `about ${Math.floor(days)} days`;
}
