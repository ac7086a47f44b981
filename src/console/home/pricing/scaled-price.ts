/** A price after a multiplier, exact: whole quadrillionths of a dollar (1e-15), which is what both can come to. */
export const scaled = (nanos: bigint, millionths: bigint): bigint => nanos * millionths;

const PER_DOLLAR = 10n ** 15n;
const DIGITS = 15;

/** `$2.00`, `$0.0224`: at least two digits after the point, and every one that it has. */
export function scaledPrice(amount: bigint): string {
  const fraction = (amount % PER_DOLLAR).toString().padStart(DIGITS, '0').replace(/0+$/, '');
  const whole = (amount / PER_DOLLAR).toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return `$${whole}.${fraction.padEnd(2, '0')}`;
}
