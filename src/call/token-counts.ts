import { isJsonObject, type JsonObject } from '../shared/index.js';
import type { CallHead, TokenUsage } from './call.js';

/** A member as an object, so that what is not there reads as empty: upstreams leave out and null what they like. */
export function objectIn(parent: JsonObject | undefined, name: string): JsonObject {
  const value = parent?.[name];
  return isJsonObject(value) ? value : {};
}

/** More than any model can read or write: a report of more is none. */
const MAX_TOKENS = 10_000_000_000;

/** A count of tokens as an upstream reports it; undefined when it is not there or no number that can be charged. */
export function countIn(parent: JsonObject | undefined, name: string): number | undefined {
  const value = parent?.[name];
  return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS ? Math.round(value) : undefined;
}

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
