import { percent, usd } from '../../platform/format/index.js';

/** Charge minus upstream cost. Amounts in nano-dollars. */
export interface Margin {
  readonly amount: bigint;
  /** Share of the charge: `20%`, `−12%`; `–` if nothing was charged. */
  readonly share: string;
  readonly isLoss: boolean;
}

/** Undefined if the charge or the cost is unknown. */
export function marginOf(charged: bigint | null, cost: bigint | null): Margin | undefined {
  if (charged === null || cost === null) return undefined;
  const amount = charged - cost;
  const share = percent(Math.abs(Number(amount)), Number(charged));
  return { amount, share: amount < 0n && charged > 0n ? `−${share}` : share, isLoss: amount < 0n };
}

/** `margin $35.08, 20%` or `loss $2.10, −12%`. */
export function marginText({ amount, share, isLoss }: Margin): string {
  return `${isLoss ? 'loss' : 'margin'} ${usd(isLoss ? -amount : amount)}${share === '–' ? '' : `, ${share}`}`;
}
