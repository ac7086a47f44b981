import { addDays, dayOf, startOfDay } from '../../platform/shared/index.js';
import { lastDay } from './key-settings.view.js';

const WEEK_DAYS = 7;
const NEAR = ['today', 'tomorrow'];

/** When a key expires, as lists show it. */
export interface ExpiryView {
  /** A moment of its last day. */
  readonly at: Date;
  /** Whether it ends with that day, so that the time need not be told. */
  readonly wholeDay: boolean;
  /** How soon, when it is: `in 3 days`. */
  readonly soon: string;
}

/** Undefined: never. */
export function expiryView(expiresAt: Date | undefined, timeZone: string, now: Date): ExpiryView | undefined {
  if (expiresAt === undefined) return undefined;
  const last = lastDay(expiresAt, timeZone);
  const today = dayOf(now, timeZone);
  const wholeDay = startOfDay(addDays(last, 1), timeZone).getTime() === expiresAt.getTime();
  const inDays = Math.round((Date.parse(last) - Date.parse(today)) / 86_400_000);
  return {
    at: wholeDay ? new Date(expiresAt.getTime() - 1) : expiresAt,
    wholeDay,
    soon: inDays >= 0 && inDays <= WEEK_DAYS ? (NEAR[inDays] ?? `in ${inDays} days`) : '',
  };
}
