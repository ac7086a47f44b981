import type { CatalogModel } from '../../catalog/index.js';
import { type BodySize, type CallHead, type TokenUsage, DEFAULT_IMAGE_TOKENS } from '../../protocols/contract/index.js';
import type { CreditLine } from './credit.js';
import { type PriceTerms, costWithOutput, outputTokensFor } from './price.js';

/** For images referenced by URL, whose size is unknown. */
const MAX_IMAGE_TOKENS = 4800;
/** Initial output hold of a stream, in tokens. */
const STREAM_SLICE = 1024;
/** Min output hold of an unstreamed call without a limit, if affordable. */
const DEFAULT_OUTPUT = 4096;
/** Fewer output tokens are useless. */
const MIN_OUTPUT = 16;

/** Requested hold in nanos; the function `admit_calls` defines its meaning. */
export interface HoldRequest {
  readonly prompt: bigint;
  readonly minimum: bigint;
  readonly base: bigint;
  readonly ceiling: bigint;
}

/** Parts of a hold besides output. */
export interface HeldBeside {
  /** In its most expensive class. */
  readonly prompt: TokenUsage;
  /** Fees of hosted tools, and passes of other models, in nanos. */
  readonly reserve: bigint;
}

/** Upper bound of prompt tokens: text by characters, encoded content by its own bounds. */
export function heldPromptTokens(size: BodySize, contextWindow: number): number {
  const { bytes, encodedBytes, maxTextTokens = Math.ceil((bytes - encodedBytes) / 2), media = [] } = size;
  const encoded = media.reduce((sum, { maxTokens }) => sum + maxTokens, 0);
  return Math.min(contextWindow, maxTextTokens + encoded + externalImages(size) * MAX_IMAGE_TOKENS);
}

/**
 * The same for prompts that continue a conversation: its tokens if known, else the context window, as for other content
 * outside the body.
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

/** Probable prompt tokens for charges without report or count: one per four bytes of text. */
export const likelyPromptTokens = (size: BodySize, contextWindow?: number): number =>
  countedPromptTokens(size, Math.ceil((size.bytes - size.encodedBytes) / 4), contextWindow);

/** Prompt tokens from a count of the text: other content is added. Without a context window they are not limited. */
export function countedPromptTokens(size: BodySize, textTokens: number, contextWindow = Infinity): number {
  const encoded = (size.media ?? []).reduce((sum, { likelyTokens }) => sum + likelyTokens, 0);
  return Math.min(contextWindow, textTokens + encoded + externalImages(size) * DEFAULT_IMAGE_TOKENS);
}

/** Prompt tokens of a call from a count of the text in its body. */
export const promptByCount = (
  { size }: CallHead,
  { model, continuedTokens = 0 }: { readonly model: CatalogModel; readonly continuedTokens?: number | undefined },
  textTokens: number,
): number => countedPromptTokens(size, textTokens + continuedTokens, model.contextWindow);

/** Images outside the body. */
function externalImages({ images, media = [] }: BodySize): number {
  return Math.max(0, images - media.filter(({ kind }) => kind === 'image').length);
}

/** Max output tokens of a call: the client's or the model's limit, per choice. */
function outputBound(head: CallHead, model: CatalogModel): number {
  return Math.min(head.outputLimit ?? model.maxOutputTokens, model.maxOutputTokens) * head.choices;
}

/** The hold of a call: fixed, or (unstreamed without a limit) as large as the wallet comfortably allows. */
export function holdFor(
  head: CallHead,
  model: CatalogModel,
  terms: PriceTerms,
  { prompt: heldPrompt, reserve }: HeldBeside,
): HoldRequest {
  const bound = outputBound(head, model);
  const ofTokens = costWithOutput(terms, heldPrompt);
  const costWith = (output: number): bigint => ofTokens(output) + reserve;
  const minimum = costWith(Math.min(bound, MIN_OUTPUT * head.choices));
  const prompt = costWith(0);
  if (head.stream) {
    const slice = costWith(Math.min(bound, STREAM_SLICE * head.choices));
    return { prompt, minimum, base: slice, ceiling: slice };
  }
  const ceiling = costWith(bound);
  const base = head.outputLimit === undefined ? costWith(Math.min(bound, DEFAULT_OUTPUT * head.choices)) : ceiling;
  return { prompt, minimum, base, ceiling };
}

/**
 * Output limit per choice to send upstream because less was held than requested; undefined if the call may use its own
 * limit.
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
  return all === undefined ? undefined : Math.floor(Math.min(outputBound(head, model), all) / head.choices);
}

/**
 * Credit line of a stream: what the first hold covers, and how it grows; undefined for an unstreamed call, which is
 * held as a whole. `outputLimit`: limit sent upstream instead of the call's own.
 */
export function creditLine(
  head: CallHead,
  model: CatalogModel,
  { outputLimit, ...granted }: Omit<CreditLine, 'bound' | 'slice'> & { readonly outputLimit: number | undefined },
): CreditLine | undefined {
  if (!head.stream) return undefined;
  const bound = outputLimit === undefined ? outputBound(head, model) : outputLimit * head.choices;
  return { ...granted, bound, slice: STREAM_SLICE * head.choices };
}
