// Money as pages show it. `exactUsd` shows every digit that was charged.

const PER_DOLLAR = 1_000_000_000n;
const TEN_CENTS = 100_000_000n;
/** The minus sign, not a hyphen. */
const MINUS = '−';

export interface MoneyParts {
  /** Sign, dollars and cents: `−$1,234.56`. */
  readonly head: string;
  /** Digits below a cent, at least four: `3528`. */
  readonly tail: string;
}

/** With thousands separators. */
export const grouped = (digits: string): string => digits.replaceAll(/\B(?=(\d{3})+$)/g, ',');

/** Every digit, at least six decimals. */
export function exactParts(amount: bigint): MoneyParts {
  const magnitude = amount < 0n ? -amount : amount;
  const fraction = (magnitude % PER_DOLLAR).toString().padStart(9, '0');
  const whole = grouped((magnitude / PER_DOLLAR).toString());
  return {
    head: `${amount < 0n ? MINUS : ''}$${whole}.${fraction.slice(0, 2)}`,
    tail: fraction.slice(2, 6) + fraction.slice(6).replace(/0+$/, ''),
  };
}

/** `$0.033528`, for plain text. */
export function exactUsd(amount: bigint): string {
  const { head, tail } = exactParts(amount);
  return head + tail;
}

/**
 * Dollars and cents, such as `$84.12`; below ten cents two significant digits, such as `$0.0042`. Truncated, so that a
 * balance is never overstated.
 */
export function usd(amount: bigint, signed = false): string {
  const magnitude = amount < 0n ? -amount : amount;
  const plus = signed && amount > 0n ? '+' : '';
  const sign = amount < 0n ? MINUS : plus;
  const fraction = (magnitude % PER_DOLLAR).toString().padStart(9, '0');
  const decimals = magnitude < TEN_CENTS ? significant(fraction) : fraction.slice(0, 2);
  return `${sign}$${grouped((magnitude / PER_DOLLAR).toString())}.${decimals}`;
}

/** The first two significant digits, and at least two decimals. */
const significant = (fraction: string): string =>
  fraction
    .slice(0, fraction.search(/[1-9]/) + 2)
    .replace(/0+$/, '')
    .padEnd(2, '0');

/** A price with at least two decimals and no digit lost: `$3.00`, `$0.125`. */
export function price(amount: bigint): string {
  const { head, tail } = exactParts(amount);
  return head + tail.replace(/0+$/, '');
}
