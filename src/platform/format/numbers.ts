import { grouped } from './money.js';

/** Shown for unknown numbers, never 0. */
export const UNKNOWN = '–';

/** `1,284`; rounded to an integer. */
export function count(value: number | bigint): string {
  const whole = typeof value === 'bigint' ? value : BigInt(Math.round(value));
  return whole < 0n ? `−${grouped((-whole).toString())}` : grouped(whole.toString());
}

const UNITS: readonly (readonly [size: number, name: string])[] = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e4, 'k'],
];

/** Three digits and a unit from 10,000 on: `9,999`, `48.2k`, `14.3M`. */
export function compact(value: number | bigint): string {
  const number = Number(value);
  // A number that rounds up to 1,000 of its unit uses the next unit.
  const unit = UNITS.find(([size]) => number >= size * 0.9995 && (size !== 1e4 || number >= 1e4));
  if (unit === undefined) return count(value);
  const size = unit[0] === 1e4 ? 1e3 : unit[0];
  const shown = number / size;
  return `${shown.toFixed(shown >= 99.95 ? 0 : 1).replace(/\.0$/, '')}${unit[1]}`;
}

/** `0.5%`; one decimal below ten. Never rounds to 0 or 100. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return UNKNOWN;
  const value = (part / whole) * 100;
  if (value > 0 && value < 0.1) return '<0.1%';
  if (value < 100 && value > 99.9) return '99.9%';
  return `${value.toFixed(value < 10 || value > 99 ? 1 : 0).replace(/\.0$/, '')}%`;
}

/** A multiplier in millionths as `× 0.80`: at least two decimals and no digit lost. */
export function times(millionths: bigint): string {
  const fraction = (millionths % 1_000_000n).toString().padStart(6, '0');
  return `× ${millionths / 1_000_000n}.${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, '')}`;
}
