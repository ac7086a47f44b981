import { InvalidArgumentError } from 'commander';
import { type Nanos, parseTime, parseUsd, reasonOf } from '../../platform/shared/index.js';

/** Parsers of option values. Invalid values are usage errors: exit code 2, and commander names the option. */

/** Decimal dollars, may be negative. */
export function amountArgument(text: string): Nanos {
  try {
    return parseUsd(text);
  } catch (error) {
    throw new InvalidArgumentError(reasonOf(error));
  }
}

/** Dollars, or `none` for no limit. Returns the word itself, because commander treats null as an empty value. */
export function limitArgument(text: string): Nanos | 'none' {
  return text === 'none' ? text : amountArgument(text);
}

/** An integer from 1. */
export function countArgument(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Enter an integer of at least 1.');
  return Number(text);
}

/** An integer from 1, or `none` for no limit. */
export function countOrNoneArgument(text: string): number | 'none' {
  return text === 'none' ? text : countArgument(text);
}

/** An integer from 0, or `none` for no limit. */
export function maxKeysArgument(text: string): number | 'none' {
  return text === '0' ? 0 : countOrNoneArgument(text);
}

/** Addresses and ranges, separated by commas; `any` is an empty list. The key service validates them. */
export function networksArgument(text: string): readonly string[] {
  return text === 'any' ? [] : listArgument(text);
}

/** An ISO date or time; UTC without a zone. */
export function timeArgument(text: string): Date {
  const time = parseTime(text);
  if (time === undefined)
    throw new InvalidArgumentError('Enter an ISO time such as 2026-12-31 or 2026-12-31T23:59:59Z.');
  return time;
}

const UNIT_MS = { m: 60_000, h: 3_600_000 } as const;
const MAX_DURATION_MS = 24 * UNIT_MS.h;

/** `30m` or `1h`, at most 24 hours; in ms. */
export function durationArgument(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,3})([mh])$/.exec(text) ?? [];
  const ms = Number(amount) * UNIT_MS[unit === 'h' ? 'h' : 'm'];
  if (amount === undefined || ms > MAX_DURATION_MS)
    throw new InvalidArgumentError('Enter minutes or hours such as 30m or 1h, at most 24h.');
  return ms;
}

/** Names separated by commas. */
export function listArgument(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.length === 0) throw new InvalidArgumentError('Enter one or more names, separated by commas.');
  return names;
}
