import type { JsonObject } from '../../platform/shared/index.js';
import type { CallHead, TokenUsage } from './call.js';

const MAX_TOKENS = 10_000_000_000;

/** Some servers write counts as strings. */
const COUNT_IN_STRING = /^\d{1,11}$/;

/** Undefined if absent or invalid. */
export function countIn(parent: JsonObject | undefined, name: string): number | undefined {
  const value = parent?.[name];
  if (typeof value === 'number') return Number.isInteger(value) && isInRange(value) ? value : undefined;
  if (typeof value !== 'string' || !COUNT_IN_STRING.test(value)) return undefined;
  const count = Number(value);
  return isInRange(count) ? count : undefined;
}

const isInRange = (value: number): boolean => value >= 0 && value <= MAX_TOKENS;

/** Enough to recognize what was written instead of a count. */
const MAX_WRITTEN_CHARACTERS = 40;

export function irregularIn(
  usage: JsonObject | undefined,
  names: { readonly input: string; readonly output: string },
): Pick<TokenUsage, 'irregular'> {
  const input = written(usage?.[names.input]);
  const output = written(usage?.[names.output]);
  if (input === undefined && output === undefined) return {};
  return { irregular: { ...(input !== undefined && { input }), ...(output !== undefined && { output }) } };
}

/** Undefined for a count. */
function written(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && isInRange(value)) return undefined;
  return value === undefined || value === null ? '' : JSON.stringify(value).slice(0, MAX_WRITTEN_CHARACTERS);
}

export function isCountInString(text: string): boolean {
  const inner = text.slice(1, -1);
  return text.startsWith('"') && COUNT_IN_STRING.test(inner) && isInRange(Number(inner));
}

export const hasAny = (usage: JsonObject | undefined, ...names: readonly string[]): boolean =>
  names.some((name) => usage?.[name] !== undefined && usage[name] !== null);

const MAX_NAME_LENGTH = 64;
/** Including vendor prefix and release. */
const MAX_MODEL_LENGTH = 256;

export const tierIn = (serviceTier: unknown): Pick<TokenUsage, 'serviceTier'> =>
  typeof serviceTier === 'string' && serviceTier !== '' && serviceTier.length <= MAX_NAME_LENGTH ? { serviceTier } : {};

export function placeIn(usage: JsonObject): Pick<TokenUsage, 'speed' | 'geo'> {
  const speed = nameOf(usage['speed']);
  const geo = nameOf(usage['inference_geo']);
  return { ...(speed !== undefined && { speed }), ...(geo !== undefined && { geo }) };
}

export const modelIn = (reported: unknown): string | undefined => nameOf(reported, MAX_MODEL_LENGTH);

/** Only if the request allows several models. */
export function servedByIn({ demands }: CallHead, model: unknown): Pick<TokenUsage, 'servedBy'> {
  if (demands?.models.some(({ role }) => role === 'alternative') !== true) return {};
  const servedBy = modelIn(model);
  return servedBy === undefined ? {} : { servedBy };
}

const nameOf = (value: unknown, maxLength = MAX_NAME_LENGTH): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= maxLength ? value : undefined;

export const cacheWrites = ({ cacheWrite, cacheWrite1h, cacheWrite12h = 0 }: TokenUsage): number =>
  cacheWrite + cacheWrite1h + cacheWrite12h;

const addOptional = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : one + (other ?? 0);

/** Members other than counts are the first one's. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  const cacheWrite12h = addOptional(one.cacheWrite12h, other.cacheWrite12h);
  return {
    ...one,
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    cacheWrite1h: one.cacheWrite1h + other.cacheWrite1h,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    ...(cacheWrite12h !== undefined && { cacheWrite12h }),
  };
}

/** Totals including passes: for rows, and for protocols without passes. */
export function withPasses({ passes = [], ...usage }: TokenUsage): TokenUsage {
  return passes.reduce((sum, pass) => addUsage(sum, pass.usage), usage);
}

/** Adds parts that are larger than their total: these were reported separately. */
export function withParts(usage: TokenUsage): TokenUsage {
  const cached = usage.cacheRead + cacheWrites(usage);
  return {
    ...usage,
    input: cached > usage.input ? usage.input + cached : usage.input,
    output: usage.reasoning > usage.output ? usage.output + usage.reasoning : usage.output,
  };
}
