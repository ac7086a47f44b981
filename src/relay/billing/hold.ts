import type { CatalogModel } from '../../catalog/index.js';
import { type BodySize, type CallHead, DEFAULT_IMAGE_TOKENS, type TokenUsage } from '../../protocols/contract/index.js';
import type { ExtensionResult } from './admission.js';
import { AdmissionUnavailable, OutOfCredit } from './billing.errors.js';
import { costWithOutput, outputTokensFor, type PriceTerms, promptOfSize } from './price.js';

/** For images referenced by URL, whose size is unknown. */
const MAX_IMAGE_TOKENS = 4800;
/** Initial output hold of a stream, in tokens. */
const STREAM_SLICE = 1024;
/** Min output hold of an unstreamed call without a limit, if affordable. */
const DEFAULT_OUTPUT = 4096;
/** Fewer output tokens are useless. */
const MIN_OUTPUT = 16;

/**
 * Requested hold in nanos. `admit_calls` grants `base`, or the prompt and an eighth of what is free if that is more, but
 * at most `ceiling` and what is free; less than `minimum` is refused.
 */
export interface HoldRequest {
  /** The prompt alone. */
  readonly prompt: bigint;
  /** With the fewest output tokens that are useful. */
  readonly minimum: bigint;
  readonly base: bigint;
  /** With the largest possible output. */
  readonly ceiling: bigint;
}

/** Parts of a hold besides output. */
export interface HeldWithoutOutput {
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
  { prompt: heldPrompt, reserve }: HeldWithoutOutput,
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
  { prompt: heldPrompt, reserve }: HeldWithoutOutput,
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

/** Money behind a stream. Tokens of all choices together, amounts in nanos. */
export interface CreditLine {
  readonly terms: PriceTerms;
  /** The prompt as held. */
  readonly prompt: TokenUsage;
  /** Held for tools and passes, in nanos. */
  readonly reserve?: bigint;
  /** Expected max output: nothing is requested ahead beyond it until it is exceeded. */
  readonly bound: number;
  /** Output tokens per extension. */
  readonly slice: number;
  /** Hold granted by admission. */
  readonly held: bigint;
  /** The key is that of a member of an organization, who may not see its balance. */
  readonly isOfMember: boolean;
}

/** Requests `want` in addition to `held`. @throws AdmissionUnavailable without a database */
type Extend = (held: bigint, want: bigint) => Promise<ExtensionResult>;

/**
 * How much output of a stream is paid for. Extends the hold slice by slice ahead of use, so that the stream neither
 * waits for available money nor exceeds what wallet, key and budgets can pay. Per event this costs a comparison of two
 * numbers.
 */
export class Credit {
  private held: bigint;
  /** The estimated prompt, replaced by the reported one. */
  private prompt: TokenUsage;
  /** The upstream has reported the prompt. */
  private isReported = false;
  /** Output tokens covered by the hold. */
  private coveredTokens = 0;
  /** Output allowed although its payment could not be verified. */
  private trusted = 0;
  /** Output from which the next extension is requested. */
  private extendFrom = 0;
  private extending: Promise<void> | undefined;

  constructor(
    private readonly line: CreditLine,
    private readonly extend: Extend,
  ) {
    this.held = line.held;
    this.prompt = line.prompt;
    this.measure();
  }

  /** Expected max output. */
  get bound(): number {
    return this.line.bound;
  }

  /** Whether this output is paid for. Requests extensions ahead. */
  covers(output: number): boolean {
    if (output >= this.extendFrom) this.extendAhead(output);
    return output <= this.coveredTokens;
  }

  /** Resolves when this output is paid for. @throws OutOfCredit when it cannot be */
  async untilCovered(output: number): Promise<void> {
    // A pending extension may be granted; a rejected one may succeed now that other calls have released holds.
    await this.extending;
    // A partial grant is followed by another request, which says what is missing.
    while (output > this.coveredTokens) await this.extendTo(output);
  }

  /** The upstream has reported the prompt. */
  report(usage: TokenUsage): void {
    if (usage.input === 0) return;
    // Tools and passes are covered by the reserve.
    const { toolUses: _uses, passes: _passes, ...tokens } = usage;
    this.isReported = true;
    this.prompt = { ...tokens, output: 0, reasoning: 0 };
    this.measure();
  }

  /** A tokenizer has counted the prompt. */
  count(promptTokens: number): void {
    if (this.isReported) return;
    this.prompt = promptOfSize(this.line.prompt, Math.min(promptTokens, this.line.prompt.input));
    this.measure();
  }

  /** Output that the hold pays for, beside all other usage. */
  payableOutput(usage: TokenUsage): number {
    return outputTokensFor(this.line.terms, { ...usage, output: 0, reasoning: 0 }, this.held) ?? Infinity;
  }

  private get reserve(): bigint {
    return this.line.reserve ?? 0n;
  }

  private extendAhead(output: number): void {
    // One request ahead per slice; callers that need more ask again.
    this.extendFrom = Infinity;
    this.extending ??= this.extendTo(output)
      .catch(() => undefined)
      .finally(() => (this.extending = undefined));
  }

  private async extendTo(output: number): Promise<void> {
    const upTo = this.reach(output);
    const cost = costWithOutput(this.line.terms, this.prompt)(upTo) + this.reserve;
    const want = cost > this.held ? cost - this.held : 1n;
    const result = await this.extend(this.held, want).catch((error: unknown) => {
      if (error instanceof AdmissionUnavailable) return undefined;
      throw error;
    });
    // Without a database, or after a sweeper closed the call, a running stream continues: settlement collects what is
    // there.
    if (result === undefined || result.outcome === 'closed') return this.trust(upTo);
    if (result.outcome !== 'extended') throw new OutOfCredit(result.outcome, result, this.line.isOfMember);
    this.held += result.granted;
    this.trusted = 0;
    this.measure();
  }

  /** Output up to which to extend. Beyond the bound, slice by slice again. */
  private reach(output: number): number {
    const { slice, bound } = this.line;
    return output > bound ? output + slice : Math.min(Math.max(output, this.coveredTokens) + slice, bound);
  }

  private trust(output: number): void {
    this.trusted = output;
    this.measure();
  }

  private measure(): void {
    const affordable = outputTokensFor(this.line.terms, this.prompt, this.held - this.reserve) ?? Infinity;
    this.coveredTokens = Math.max(affordable, this.trusted);
    this.extendFrom = affordable >= this.line.bound ? Infinity : this.coveredTokens - this.line.slice / 2;
  }
}
