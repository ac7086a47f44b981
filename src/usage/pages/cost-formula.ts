import { parseUsd } from '../../shared/index.js';
import { times } from '../../web/index.js';
import type { CostLine, RecordedCall } from '../calls/recorded-call.js';

/** An amount with every digit that it has: `$0.03` and `3528`. */
export interface ExactAmount {
  readonly head: string;
  readonly tail: string;
}

interface FormulaLine {
  readonly label: string;
  /** Tokens, or uses of what is paid by use. */
  readonly tokens: number;
  /** Nano-dollars for a million tokens, or for a use. */
  readonly price: bigint;
  /** Whether it is paid by use. */
  readonly each: boolean;
  readonly amount: ExactAmount;
}

/** How a charge came about. Every amount is exact: the lines come to the subtotal, that and the factors to the charge. */
export interface CostFormula {
  readonly lines: readonly FormulaLine[];
  readonly subtotal: ExactAmount;
  readonly factors: readonly { readonly label: string; readonly text: string }[];
  /** What is added or left out after that; only where it is something. */
  readonly corrections: readonly { readonly label: string; readonly amount: ExactAmount }[];
  readonly charged: ExactAmount;
  /** Whether anything stands between the lines and the charge. */
  readonly adjusted: boolean;
}

/**
 * Amounts here are in units of 10^-33 dollars, a nano-dollar in millionths four times: prices are per million tokens and
 * each of the three multipliers is in millionths, so that none of them is ever rounded.
 */
const PER_NANO = 10n ** 24n;
const MILLION = 10n ** 6n;
/** A line without the multipliers. */
const PER_LINE = MILLION ** 3n;

const LABELS: Readonly<Record<string, string>> = {
  input: 'Prompt, not cached',
  cache_read: 'Prompt, read from cache',
  cache_write_5m: 'Prompt, written to cache',
  cache_write_1h: 'Prompt, written to cache for an hour',
  image_input: 'Prompt, images',
  audio_input: 'Prompt, sound',
  output: 'Completion',
  reasoning: 'Reasoning',
  audio_output: 'Completion, sound',
  request_fee: 'Fee for a request',
};

/** What a formula is made of. */
type PricedCall = Pick<RecordedCall, 'lines' | 'snapshot' | 'cost' | 'uncollected' | 'effort' | 'group'>;

/** Undefined of a call that nothing was priced of. */
export function costFormula(call: PricedCall): CostFormula | undefined {
  const { lines, snapshot, cost } = call;
  if (lines.length === 0 || snapshot === null || cost === null) return undefined;
  const subtotal = lines.reduce((sum, line) => sum + amountOf(line), 0n);
  const tier = millionths(snapshot.service_tier_multiplier ?? '1');
  const effort = millionths(snapshot.effort_multiplier);
  const group = millionths(snapshot.group_multiplier);
  const computed = (subtotal / PER_LINE) * tier * effort * group;
  const uncollected = (call.uncollected ?? 0n) * PER_NANO;
  const rounding = cost * PER_NANO + uncollected - computed;
  const factors = [
    { label: `Service tier “${snapshot.service_tier ?? 'default'}”`, by: tier },
    { label: `Effort “${call.effort}”`, by: effort },
    { label: `Group “${call.group}”`, by: group },
  ].filter(({ by }) => by !== MILLION);
  const corrections = [
    { label: 'Rounded to a billionth of a dollar', by: rounding },
    { label: 'Not charged: nothing was left', by: -uncollected },
  ].filter(({ by }) => by !== 0n);
  return {
    lines: lines.map((line) => formulaLine(line, lines)),
    subtotal: exact(subtotal),
    factors: factors.map(({ label, by }) => ({ label, text: times(by) })),
    corrections: corrections.map(({ label, by }) => ({ label, amount: exact(by) })),
    charged: exact(cost * PER_NANO),
    adjusted: factors.length + corrections.length > 0,
  };
}

const isFee = (item: string): boolean => item === 'request_fee' || item.startsWith('tool:');

const amountOf = ({ item, quantity, price }: CostLine): bigint =>
  BigInt(quantity) * parseUsd(price) * (isFee(item) ? MILLION : 1n) * PER_LINE;

const formulaLine = (line: CostLine, all: readonly CostLine[]): FormulaLine => ({
  label: labelOf(line.item, all),
  tokens: line.quantity,
  price: parseUsd(line.price),
  each: isFee(line.item),
  amount: exact(amountOf(line)),
});

function labelOf(item: string, all: readonly CostLine[]): string {
  if (item.startsWith('tool:')) return `Tool “${item.slice(5)}”`;
  if (item === 'input' && !all.some((line) => line.item.startsWith('cache'))) return 'Prompt';
  return LABELS[item] ?? item;
}

/** A decimal with at most six digits after the point. */
function millionths(text: string): bigint {
  return parseUsd(text) / 1000n;
}

/** A multiplier as people read it: `× 0.80`. */
export const multiplierText = (text: string): string => times(millionths(text));

function exact(amount: bigint): ExactAmount {
  const magnitude = amount < 0n ? -amount : amount;
  const perDollar = PER_NANO * 10n ** 9n;
  const fraction = (magnitude % perDollar).toString().padStart(33, '0');
  const whole = (magnitude / perDollar).toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return {
    head: `${amount < 0n ? '−' : ''}$${whole}.${fraction.slice(0, 2)}`,
    tail: fraction.slice(2, 6) + fraction.slice(6).replace(/0+$/, ''),
  };
}
