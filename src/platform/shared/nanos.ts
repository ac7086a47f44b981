/** Nano-US-dollars (1 USD = 1,000,000,000). Never a float. */
export type Nanos = bigint & { readonly __unit: 'nano-dollars' };

const PER_DOLLAR = 1_000_000_000n;
const DECIMAL = /^([+-]?)(\d{1,9})(?:\.(\d{1,9}))?$/;

export const nanos = (amount: bigint): Nanos => amount as Nanos;
export const ZERO = nanos(0n);
/** Max balance or quota: below the range of bigint, with room for additions. */
export const MAX_AMOUNT = nanos(9_000_000_000_000_000_000n);

/**
 * Parses plain decimal dollars (`12`, `0.000001`, `-5`) with at most 9 digits before and after the point.
 * @throws RangeError for anything else; nothing is rounded
 */
export function parseUsd(text: string): Nanos {
  const match = DECIMAL.exec(text.trim());
  if (!match)
    throw new RangeError(
      `"${text}" is not a valid amount. Use a plain decimal in dollars with at most 9 decimal places.`,
    );
  const [, sign, whole = '0', fraction = ''] = match;
  const amount = BigInt(whole) * PER_DOLLAR + BigInt(fraction.padEnd(9, '0'));
  return nanos(sign === '-' ? -amount : amount);
}

/** Plain decimal dollars without trailing zeros: `0`, `1.5`, `-0.000000001`. */
export function formatUsd(amount: bigint): string {
  const magnitude = amount < 0n ? -amount : amount;
  const fraction = (magnitude % PER_DOLLAR).toString().padStart(9, '0').replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${magnitude / PER_DOLLAR}${fraction && `.${fraction}`}`;
}
