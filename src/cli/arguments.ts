import { InvalidArgumentError } from 'commander';
import { type Nanos, parseUsd, reasonOf } from '../shared/index.js';

/** Readers of option values. What they refuse is wrong usage: exit 2, with commander naming the option. */

/** Plain decimal dollars, negative ones too. */
export function amountArgument(text: string): Nanos {
  try {
    return parseUsd(text);
  } catch (error) {
    throw new InvalidArgumentError(reasonOf(error));
  }
}

const ISO = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** An ISO date or time. UTC where it names no zone, so that a command means the same on every machine. */
export function timeArgument(text: string): Date {
  const match = ISO.exec(text);
  const zoned = match && text.includes('T') && match[1] === undefined ? `${text}Z` : text;
  const time = new Date(zoned);
  if (!match || Number.isNaN(time.getTime()) || !isDay(text.slice(0, 10)))
    throw new InvalidArgumentError('Write an ISO time such as 2026-12-31 or 2026-12-31T23:59:59Z.');
  return time;
}

/** JavaScript takes the 31st of February for the 3rd of March. */
const isDay = (date: string): boolean => new Date(date).toISOString().startsWith(date);

/** Names separated by commas. */
export function listArgument(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.length === 0) throw new InvalidArgumentError('Write one or more names, separated by commas.');
  return names;
}
