import { type BodySize, type CallHead, NO_TOKENS, type TokenUsage } from '../call/index.js';
import type { CatalogModel } from '../catalog/index.js';
import type { CreditLine } from './credit.js';
import { type PriceTerms, costWithOutput, outputTokensFor } from './price.js';

const TOKENS_PER_IMAGE = 1600;
/** A stream holds this much output to begin with. */
const STREAM_SLICE = 1024;
/** An unstreamed call without a limit holds at least this much output, if the money is there. */
const USUAL_ANSWER = 4096;
/** Fewer output tokens than this are no answer. */
const LEAST_ANSWER = 16;

/** What is asked of a wallet for one call, in nanos; what they mean stands with the function `admit_calls`. */
export interface HoldRequest {
  readonly prompt: bigint;
  readonly minimum: bigint;
  readonly base: bigint;
  readonly ceiling: bigint;
}

/** Prompt tokens to hold for, on the safe side: one per two bytes of text, so many per image. */
export const heldPromptTokens = (size: BodySize, contextWindow: number): number => estimate(size, contextWindow, 2);

/**
 * The same of a call whose prompt may be more than its body: what it continues is known by its tokens, and everything
 * else that lies outside can fill the context window.
 */
export function promptToHold(
  { size, outside }: CallHead,
  { contextWindow }: CatalogModel,
  continuedTokens: number | undefined,
): number {
  if (outside === undefined) return heldPromptTokens(size, contextWindow);
  if (continuedTokens === undefined) return contextWindow;
  return Math.min(contextWindow, continuedTokens + heldPromptTokens(size, contextWindow));
}

/** Prompt tokens as they probably are, for a bill without any report: one per four bytes of text. */
export const likelyPromptTokens = (size: BodySize, contextWindow: number): number => estimate(size, contextWindow, 4);

function estimate(size: BodySize, contextWindow: number, bytesPerToken: number): number {
  const ofText = Math.ceil((size.bytes - size.encodedBytes) / bytesPerToken);
  return Math.min(contextWindow, ofText + size.images * TOKENS_PER_IMAGE);
}

/** Prompt tokens by a count of the words: images come on top, and no model reads more than it can. */
export const countedPromptTokens = (size: BodySize, contextWindow: number, words: number): number =>
  Math.min(contextWindow, words + size.images * TOKENS_PER_IMAGE);

const tokens = (input: number, output: number): TokenUsage => ({ ...NO_TOKENS, input, output });

/** All output tokens that a call can produce: the client's limit or the model's own, for each answer. */
function outputBound(head: CallHead, model: CatalogModel): number {
  return Math.min(head.outputLimit ?? model.maxOutputTokens, model.maxOutputTokens) * head.answers;
}

/** The hold for a call: of a fixed size, or, unstreamed and without a limit, as large as the wallet comfortably bears. */
export function holdFor(
  head: CallHead,
  model: CatalogModel,
  terms: PriceTerms,
  promptTokens = promptToHold(head, model, undefined),
): HoldRequest {
  const bound = outputBound(head, model);
  const costWith = costWithOutput(terms, tokens(promptTokens, 0));
  const minimum = costWith(Math.min(bound, LEAST_ANSWER * head.answers));
  const prompt = costWith(0);
  if (head.stream) {
    const slice = costWith(Math.min(bound, STREAM_SLICE * head.answers));
    return { prompt, minimum, base: slice, ceiling: slice };
  }
  const ceiling = costWith(bound);
  const base = head.outputLimit === undefined ? costWith(Math.min(bound, USUAL_ANSWER * head.answers)) : ceiling;
  return { prompt, minimum, base, ceiling };
}

/**
 * The output limit, for each answer, that must go upstream because less was held than the call asked for;
 * undefined when the call may run to its own bound.
 */
export function affordableOutput(
  head: CallHead,
  model: CatalogModel,
  terms: PriceTerms,
  hold: { readonly granted: bigint; readonly ceiling: bigint },
  promptTokens = promptToHold(head, model, undefined),
): number | undefined {
  if (hold.granted >= hold.ceiling) return undefined;
  const all = outputTokensFor(terms, tokens(promptTokens, 0), hold.granted);
  return all === undefined ? undefined : Math.floor(Math.min(outputBound(head, model), all) / head.answers);
}

/**
 * What a stream may say for its first hold, and up to where more is asked for; undefined for an unstreamed call, which is
 * held for as a whole. `outputLimit`: what goes upstream in place of the call's own bound.
 */
export function creditLine(
  head: CallHead,
  model: CatalogModel,
  { outputLimit, ...granted }: Omit<CreditLine, 'bound' | 'slice'> & { readonly outputLimit: number | undefined },
): CreditLine | undefined {
  if (!head.stream) return undefined;
  const bound = outputLimit === undefined ? outputBound(head, model) : outputLimit * head.answers;
  return { ...granted, bound, slice: STREAM_SLICE * head.answers };
}
