import { type MoneyParts, times } from '../../platform/format/index.js';
import { parseUsd } from '../../platform/shared/index.js';
import type { CostLine, RecordedCall, SnapshotView } from '../../usage/index.js';

interface Factor {
  readonly label: string;
  readonly text: string;
}

interface PassFormula {
  readonly model: string;
  readonly lines: readonly FormulaLine[];
  readonly factors: readonly Factor[];
  readonly amount: MoneyParts;
}

interface FormulaLine {
  readonly label: string;
  /** Tokens, or number of uses. */
  readonly tokens: number;
  /** Nano-dollars per million tokens, or per use. */
  readonly price: bigint;
  readonly each: boolean;
  readonly amount: MoneyParts;
}

/** Calculation of a charge. All amounts are exact: lines add up to the subtotal; times factors, plus passes, is the charge. */
export interface CostFormula {
  readonly lines: readonly FormulaLine[];
  readonly subtotal: MoneyParts;
  readonly factors: readonly Factor[];
  readonly passes: readonly PassFormula[];
  /** Rounding and uncollected amounts that are not zero. */
  readonly corrections: readonly { readonly label: string; readonly amount: MoneyParts }[];
  readonly charged: MoneyParts;
  /** Whether the charge differs from the sum of the lines. */
  readonly adjusted: boolean;
}

/**
 * Amounts are in units of 1e-45 dollars so that nothing is rounded: nano-dollars per million tokens (1e-15), times five
 * multipliers in millionths (1e-30).
 */
const PER_NANO = 10n ** 36n;
const MILLION = 10n ** 6n;
/** Scale of a line before the multipliers. */
const PER_LINE = MILLION ** 5n;

const LABELS: Readonly<Record<string, string>> = {
  input: 'Input, not cached',
  cache_read: 'Input read from cache',
  cache_write_5m: 'Input written to cache, 5 minutes',
  cache_write_1h: 'Input written to cache, 1 hour',
  cache_write_12h: 'Input written to cache, 12 hours',
  image_input: 'Image input',
  audio_input: 'Audio input',
  output: 'Output',
  reasoning: 'Reasoning',
  audio_output: 'Audio output',
  'image_generation:text_input': 'Image generation: text input',
  'image_generation:image_input': 'Image generation: image input',
  'image_generation:text_output': 'Image generation: text output',
  'image_generation:image_output': 'Image generation: image output',
  request_fee: 'Fee per call',
};

type PricedCall = Pick<RecordedCall, 'lines' | 'snapshot' | 'cost' | 'uncollected' | 'effort' | 'group'>;

/** Undefined if nothing was priced. */
export function costFormula(call: PricedCall): CostFormula | undefined {
  const { lines, snapshot, cost } = call;
  if (lines.length === 0 || snapshot === null || cost === null) return undefined;
  const own = lines.filter(({ pass = 0 }) => pass === 0);
  const subtotal = sumOf(own);
  const factors = factorsOf(call, snapshot);
  const passes = passesOf(call, snapshot);
  const computed = passes.reduce((sum, pass) => sum + pass.by, multiplied(subtotal, factors));
  const uncollected = (call.uncollected ?? 0n) * PER_NANO;
  const rounding = cost * PER_NANO + uncollected - computed;
  const corrections = [
    { label: 'Rounded to one billionth of a dollar', by: rounding },
    { label: 'Not charged: out of credit', by: -uncollected },
  ].filter(({ by }) => by !== 0n);
  return {
    lines: own.map((line) => formulaLine(line, own)),
    subtotal: exact(subtotal),
    factors: factors.map(factorText),
    passes: passes.map(({ formula }) => formula),
    corrections: corrections.map(({ label, by }) => ({ label, amount: exact(by) })),
    charged: exact(cost * PER_NANO),
    adjusted: factors.length + passes.length + corrections.length > 0,
  };
}

interface Multiplier {
  readonly label: string;
  /** Millionths. */
  readonly by: bigint;
}

/** Multipliers other than 1. */
const factorsOf = (call: PricedCall, snapshot: SnapshotView): readonly Multiplier[] =>
  [
    { label: `Service tier “${snapshot.service_tier ?? 'default'}”`, by: millionths(snapshot.service_tier_multiplier) },
    { label: `Speed “${snapshot.speed ?? 'standard'}”`, by: millionths(snapshot.speed_multiplier) },
    { label: `Region “${snapshot.geo ?? 'global'}”`, by: millionths(snapshot.geo_multiplier) },
    { label: `Effort “${call.effort}”`, by: millionths(snapshot.effort_multiplier) },
    { label: `Group “${call.group}”`, by: millionths(snapshot.group_multiplier) },
  ].filter(({ by }) => by !== MILLION);

const factorText = ({ label, by }: Multiplier): Factor => ({ label, text: times(by) });

const sumOf = (lines: readonly CostLine[]): bigint => lines.reduce((sum, line) => sum + amountOf(line), 0n);

/** Exact, because amounts are scaled for all five multipliers. */
const multiplied = (amount: bigint, factors: readonly Multiplier[]): bigint =>
  factors.reduce((product, { by }) => (product * by) / MILLION, amount);

/** Passes use the multipliers of their model, or the call's if the snapshot has none. */
function passesOf(call: PricedCall, snapshot: SnapshotView): readonly { formula: PassFormula; by: bigint }[] {
  const ordinals = new Set(call.lines.flatMap(({ pass = 0 }) => (pass > 0 ? [pass] : [])));
  return [...ordinals].map((ordinal) => {
    const lines = call.lines.filter(({ pass }) => pass === ordinal);
    const model = lines[0]?.model ?? '';
    const factors = factorsOf(call, snapshot.models?.[model] ?? snapshot);
    const by = multiplied(sumOf(lines), factors);
    const formulaLines = lines.map((line) => formulaLine(line, lines));
    return { formula: { model, lines: formulaLines, factors: factors.map(factorText), amount: exact(by) }, by };
  });
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
  if (item === 'input' && !all.some((line) => line.item.startsWith('cache'))) return 'Input';
  return LABELS[item] ?? item;
}

/** @param text a decimal with up to six decimals */
function millionths(text = '1'): bigint {
  return parseUsd(text) / 1000n;
}

/** `× 0.80` */
export const multiplierText = (text: string): string => times(millionths(text));

function exact(amount: bigint): MoneyParts {
  const magnitude = amount < 0n ? -amount : amount;
  const perDollar = PER_NANO * 10n ** 9n;
  const fraction = (magnitude % perDollar).toString().padStart(45, '0');
  const whole = (magnitude / perDollar).toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return {
    head: `${amount < 0n ? '−' : ''}$${whole}.${fraction.slice(0, 2)}`,
    tail: fraction.slice(2, 6) + fraction.slice(6).replace(/0+$/, ''),
  };
}
