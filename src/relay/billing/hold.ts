import { type BodySize, type CallHead, type TokenUsage, DEFAULT_IMAGE_TOKENS } from '../../protocols/contract/index.js';
import type { CatalogModel } from '../../catalog/index.js';
import type { CreditLine } from './credit.js';
import { type PriceTerms, costWithOutput, outputTokensFor } from './price.js';

/** Of an image referenced by URL, whose size is unknown. */
const MAX_IMAGE_TOKENS = 4800;
/** A stream holds this much output to begin with. */
const STREAM_SLICE = 1024;
/** An unstreamed call without a limit holds at least this much output, if the money is there. */
const DEFAULT_OUTPUT = 4096;
/** Fewer output tokens than this are no answer. */
const MIN_OUTPUT = 16;

/** What is asked of a wallet for one call, in nanos; what they mean stands with the function `admit_calls`. */
export interface HoldRequest {
  readonly prompt: bigint;
  readonly minimum: bigint;
  readonly base: bigint;
  readonly ceiling: bigint;
}

/** What a call is held for beside its output. */
export interface HeldBeside {
  /** At the dearest that it may come to. */
  readonly prompt: TokenUsage;
  /** Fees of hosted tools and passes of other models, in nanos. */
  readonly reserve: bigint;
}

/** No prompt has more tokens: of its text by its characters, of what is encoded in it by its own bounds. */
export function heldPromptTokens(size: BodySize, contextWindow: number): number {
  const { bytes, encodedBytes, maxTextTokens = Math.ceil((bytes - encodedBytes) / 2), media = [] } = size;
  const encoded = media.reduce((sum, { maxTokens }) => sum + maxTokens, 0);
  return Math.min(contextWindow, maxTextTokens + encoded + imagesElsewhere(size) * MAX_IMAGE_TOKENS);
}

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

/** Prompt tokens as they probably are, for a bill without any report or count: one per four bytes of text. */
export const likelyPromptTokens = (size: BodySize, contextWindow: number): number =>
  countedPromptTokens(size, contextWindow, Math.ceil((size.bytes - size.encodedBytes) / 4));

/** Prompt tokens by a count of the words: what is no text comes on top, and no model reads more than it can. */
export function countedPromptTokens(size: BodySize, contextWindow: number, words: number): number {
  const encoded = (size.media ?? []).reduce((sum, { likelyTokens }) => sum + likelyTokens, 0);
  return Math.min(contextWindow, words + encoded + imagesElsewhere(size) * DEFAULT_IMAGE_TOKENS);
}

/** The prompt of a call by a count of the words in its body. */
export const promptByCount = (
  { size }: CallHead,
  { model, continuedTokens = 0 }: { readonly model: CatalogModel; readonly continuedTokens?: number | undefined },
  words: number,
): number => countedPromptTokens(size, model.contextWindow, words + continuedTokens);

/** Images that are not in the body themselves. */
function imagesElsewhere({ images, media = [] }: BodySize): number {
  return Math.max(0, images - media.filter(({ kind }) => kind === 'image').length);
}

/** All output tokens that a call can produce: the client's limit or the model's own, for each answer. */
function outputBound(head: CallHead, model: CatalogModel): number {
  return Math.min(head.outputLimit ?? model.maxOutputTokens, model.maxOutputTokens) * head.answers;
}

/** The hold for a call: of a fixed size, or, unstreamed and without a limit, as large as the wallet comfortably bears. */
export function holdFor(
  head: CallHead,
  model: CatalogModel,
  terms: PriceTerms,
  { prompt: heldPrompt, reserve }: HeldBeside,
): HoldRequest {
  const bound = outputBound(head, model);
  const ofTokens = costWithOutput(terms, heldPrompt);
  const costWith = (output: number): bigint => ofTokens(output) + reserve;
  const minimum = costWith(Math.min(bound, MIN_OUTPUT * head.answers));
  const prompt = costWith(0);
  if (head.stream) {
    const slice = costWith(Math.min(bound, STREAM_SLICE * head.answers));
    return { prompt, minimum, base: slice, ceiling: slice };
  }
  const ceiling = costWith(bound);
  const base = head.outputLimit === undefined ? costWith(Math.min(bound, DEFAULT_OUTPUT * head.answers)) : ceiling;
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
  { prompt: heldPrompt, reserve }: HeldBeside,
): number | undefined {
  if (hold.granted >= hold.ceiling) return undefined;
  const all = outputTokensFor(terms, heldPrompt, hold.granted - reserve);
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
