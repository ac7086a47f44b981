import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import type { CallHead, TokenUsage } from './call.js';

/** A member as an object, so that what is not there reads as empty: upstreams leave out and null what they like. */
export function objectIn(parent: JsonObject | undefined, name: string): JsonObject {
  const value = parent?.[name];
  return isJsonObject(value) ? value : {};
}

/** More than any model can read or write: a report of more is none. */
const MAX_TOKENS = 10_000_000_000;

/** A count that was written as a string, as some servers write all of their numbers. */
const COUNT_IN_STRING = /^\d{1,11}$/;

/** A count of tokens as an upstream reports it; undefined when it is not there or no count. */
export function countIn(parent: JsonObject | undefined, name: string): number | undefined {
  const value = parent?.[name];
  if (typeof value === 'number') return Number.isInteger(value) && isInRange(value) ? value : undefined;
  if (typeof value !== 'string' || !COUNT_IN_STRING.test(value)) return undefined;
  const count = Number(value);
  return isInRange(count) ? count : undefined;
}

const isInRange = (value: number): boolean => value >= 0 && value <= MAX_TOKENS;

/** Enough to recognise what an upstream wrote in place of a count. */
const MAX_WRITTEN_CHARACTERS = 40;

/** What stands in place of the totals by these names; nothing when both are counts. */
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

/** Whether what was written in place of a total is a count all the same. */
export function isCountInString(text: string): boolean {
  const inner = text.slice(1, -1);
  return text.startsWith('"') && COUNT_IN_STRING.test(inner) && isInRange(Number(inner));
}

/** Whether a usage object has anything to say by one of these names. */
export const hasAny = (usage: JsonObject | undefined, ...names: readonly string[]): boolean =>
  names.some((name) => usage?.[name] !== undefined && usage[name] !== null);

/** What a report says of images and sounds in a prompt, in the dialects that name them alike; the rest is absent. */
export function mediaIn(promptDetails: JsonObject): Pick<TokenUsage, 'imageInput' | 'audioInput'> {
  const imageInput = countIn(promptDetails, 'image_tokens') ?? 0;
  const audioInput = countIn(promptDetails, 'audio_tokens') ?? 0;
  return { ...(imageInput > 0 && { imageInput }), ...(audioInput > 0 && { audioInput }) };
}

/** The same of the answer. */
export function mediaOut(outputDetails: JsonObject): Pick<TokenUsage, 'audioOutput'> {
  const audioOutput = countIn(outputDetails, 'audio_tokens') ?? 0;
  return audioOutput > 0 ? { audioOutput } : {};
}

const MAX_NAME_LENGTH = 64;
/** Model names are longer: they may begin with a vendor's, and end with a release. */
const MAX_MODEL_LENGTH = 256;

/** What an answer says of the service tier it was given in. */
export const tierIn = (serviceTier: unknown): Pick<TokenUsage, 'serviceTier'> =>
  typeof serviceTier === 'string' && serviceTier !== '' && serviceTier.length <= MAX_NAME_LENGTH ? { serviceTier } : {};

/** What an answer says of the speed and the region that it was inferred in; the rest is absent. */
export function placeIn(usage: JsonObject): Pick<TokenUsage, 'speed' | 'geo'> {
  const speed = nameOf(usage['speed']);
  const geo = nameOf(usage['inference_geo']);
  return { ...(speed !== undefined && { speed }), ...(geo !== undefined && { geo }) };
}

/** The name of a model that an upstream reports; undefined when there is none. */
export const modelIn = (reported: unknown): string | undefined => nameOf(reported, MAX_MODEL_LENGTH);

/** Which model an answer comes from, where the request names others that may serve it; absent where it names none. */
export function servedByIn({ demands }: CallHead, model: unknown): Pick<TokenUsage, 'servedBy'> {
  if (demands?.models.some(({ role }) => role === 'alternative') !== true) return {};
  const servedBy = modelIn(model);
  return servedBy === undefined ? {} : { servedBy };
}

const nameOf = (value: unknown, maxLength = MAX_NAME_LENGTH): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= maxLength ? value : undefined;

/** The part of a prompt that was written to caches, of every lifetime. */
export const cacheWrites = ({ cacheWrite, cacheWrite1h, cacheWrite12h = 0 }: TokenUsage): number =>
  cacheWrite + cacheWrite1h + cacheWrite12h;

const addOptional = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : one + (other ?? 0);

/** Two usages as one. What is no count is that of the first. */
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

/** Usage with its passes added to the totals: for rows, and for clients whose protocol has no place for passes. */
export function withPasses({ passes = [], ...usage }: TokenUsage): TokenUsage {
  return passes.reduce((sum, pass) => addUsage(sum, pass.usage), usage);
}

/**
 * Usage whose totals include their parts. Some upstreams report totals without them: then a part is larger than its
 * total, and is added to it.
 */
export function withParts(usage: TokenUsage): TokenUsage {
  const cached = usage.cacheRead + cacheWrites(usage);
  return {
    ...usage,
    input: cached > usage.input ? usage.input + cached : usage.input,
    output: usage.reasoning > usage.output ? usage.output + usage.reasoning : usage.output,
  };
}
