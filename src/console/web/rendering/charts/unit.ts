import { compact, count, exactUsd, price, usd } from '../../../../platform/format/index.js';

/** Money comes as nano-dollars (bigint), everything else as numbers. */
export type Amount = number | bigint;

/** What the values of a chart are. */
export interface Unit {
  /** How many of what comes make one of what an axis counts. */
  readonly size: number;
  /** Whether there is nothing between one and the next. */
  readonly whole: boolean;
  /** In a table and in what is said of a bar. */
  text(value: Amount): string;
  /** Beside a line of the grid, of what the axis counts. */
  axis(value: number): string;
}

const plain = (value: number): string => Number(value.toPrecision(6)).toString();

export const DOLLARS: Unit = {
  size: 1e9,
  whole: false,
  text: (value) => usd(BigInt(value)),
  axis: (value) => price(BigInt(Math.round(value * 1e9))).replace(/\.00$/, ''),
};
/** Every digit of an amount in the table: where the days of a chart are what a wallet has paid. */
export const EXACT_DOLLARS: Unit = { ...DOLLARS, text: (value) => exactUsd(BigInt(value)) };
export const COUNT: Unit = { size: 1, whole: true, text: count, axis: plain };
export const TOKENS: Unit = { size: 1, whole: true, text: compact, axis: compact };
export const MILLISECONDS: Unit = {
  size: 1,
  whole: true,
  text: (value) => `${count(value)} ms`,
  axis: (value) => count(value),
};
