import { type Nanos, nanos, ZERO } from '../../platform/shared/index.js';
import { LEARNING_DAYS } from './new-networks.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Less in an hour is nothing to be called away for, however many times the usual it is. */
export const MIN_UNUSUAL = nanos(5_000_000_000n);
/** Busy days are two or three times as busy as others. What runs away, or is somebody else's, seldom stops there. */
const UNUSUAL_FACTOR = 5n;
/** So far back is looked for the largest hour: two of each day of the week. */
export const DEFAULT_DAYS = 14;

/** What a key has spent. */
export interface Spending {
  /** In the last 60 minutes. */
  readonly lastHour: Nanos;
  /** In each clock hour with calls of the 14 days before them. */
  readonly hours: readonly Nanos[];
  /** When the key was first used, as far as is remembered; undefined: never before. */
  readonly since: Date | undefined;
}

/** The largest hour before, where the last one is far above it; undefined where it is not, or where nobody can tell yet. */
export function unusualThreshold({ lastHour, hours, since }: Spending, now: Date): Nanos | undefined {
  if (since === undefined || now.getTime() - since.getTime() < LEARNING_DAYS * DAY_MS) return undefined;
  const usual = hours.reduce((largest, hour) => (hour > largest ? hour : largest), ZERO);
  return lastHour >= MIN_UNUSUAL && lastHour > UNUSUAL_FACTOR * usual ? usual : undefined;
}
