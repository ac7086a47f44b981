import { isJsonObject, type JsonObject } from '../shared/index.js';
import type { TokenUsage } from './call.js';

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

/** What an answer says of the service tier it was given in. */
export const tierIn = (serviceTier: unknown): Pick<TokenUsage, 'serviceTier'> =>
  typeof serviceTier === 'string' && serviceTier !== '' && serviceTier.length <= MAX_NAME_LENGTH ? { serviceTier } : {};

/**
 * Usage whose totals include their parts. Some upstreams report totals without them: then a part is larger than its
 * total, and is added to it.
 */
export function withParts(usage: TokenUsage): TokenUsage {
  const cached = usage.cacheRead + usage.cacheWrite + usage.cacheWrite1h;
  return {
    ...usage,
    input: cached > usage.input ? usage.input + cached : usage.input,
    output: usage.reasoning > usage.output ? usage.output + usage.reasoning : usage.output,
  };
}
