// Money as pages show it. No digit that was charged is ever left out of `exactUsd`.

const PER_DOLLAR = 1_000_000_000n;
const PER_CENT = 10_000_000n;
/** What stands before an amount below zero: the sign, not the hyphen. */
const MINUS = '−';

export interface MoneyParts {
  /** Sign, dollars and cents: `−$1,234.56`. */
  readonly head: string;
  /** The digits below a cent, at least four of them: `3528`. */
  readonly tail: string;
}

/** Thousands with commas. */
export const grouped = (digits: string): string => digits.replaceAll(/\B(?=(\d{3})+$)/g, ',');

/** An amount with every digit, at least six after the point. */
export function exactParts(amount: bigint): MoneyParts {
  const magnitude = amount < 0n ? -amount : amount;
  const fraction = (magnitude % PER_DOLLAR).toString().padStart(9, '0');
  const whole = grouped((magnitude / PER_DOLLAR).toString());
  return {
    head: `${amount < 0n ? MINUS : ''}$${whole}.${fraction.slice(0, 2)}`,
    tail: fraction.slice(2, 6) + fraction.slice(6).replace(/0+$/, ''),
  };
}

/** `$0.033528`: for texts that cannot have markup. */
export function exactUsd(amount: bigint): string {
  const { head, tail } = exactParts(amount);
  return head + tail;
}

/**
 * Dollars and cents: `$84.12`. What is below a cent is cut off, so that a balance never shows more than there is; an
 * amount that is nothing but that says so: `under $0.01`.
 */
export function usd(amount: bigint, signed = false): string {
  const magnitude = amount < 0n ? -amount : amount;
  const plus = signed && amount > 0n ? '+' : '';
  const sign = amount < 0n ? MINUS : plus;
  if (magnitude !== 0n && magnitude < PER_CENT) return `${sign}<$0.01`;
  const cents = (magnitude / PER_CENT).toString().padStart(3, '0');
  return `${sign}$${grouped(cents.slice(0, -2))}.${cents.slice(-2)}`;
}

/** A price: at least two digits after the point, and every one that it has: `$3.00`, `$0.125`. */
export function price(amount: bigint): string {
  const { head, tail } = exactParts(amount);
  return head + tail.replace(/0+$/, '');
}
