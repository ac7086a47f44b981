import { exactUsd } from '../../platform/format/index.js';

/** Every digit, those below a cent apart: sums of them must be those of the balance. */
export function exactAmount(amount: bigint, signed = false): { readonly head: string; readonly tail: string } {
  const text = exactUsd(amount)
    .replace(/(\.\d\d)0+$/, '$1')
    .replace(/(\.\d{2}\d*[1-9])0+$/, '$1');
  const cents = text.indexOf('.') + 3;
  return { head: (signed && amount > 0n ? '+' : '') + text.slice(0, cents), tail: text.slice(cents) };
}
