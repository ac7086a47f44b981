import { type Nanos, nanos } from '../../platform/shared/index.js';

const DOLLAR = 1_000_000_000n;
const DIME = 100_000_000n;
/** Long enough to add funds over a weekend. */
const DAYS = 3n;

/** A threshold that leaves three days at this pace: whole dollars, or whole dimes below one. */
export function suggestedThreshold(perDay: Nanos): Nanos {
  const exact = perDay * DAYS;
  const step = exact > DOLLAR ? DOLLAR : DIME;
  return nanos(((exact + step - 1n) / step) * step);
}
