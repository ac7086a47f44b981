import { type TokenUsage } from '../../protocols/contract/index.js';
import type { ExtensionResult } from './admission.js';
import { AdmissionUnavailable, OutOfCredit } from './billing.errors.js';
import { costWithOutput, outputTokensFor, promptOfSize, type PriceTerms } from './price.js';

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
  private covered = 0;
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
    return output <= this.covered;
  }

  /** Resolves when this output is paid for. @throws OutOfCredit when it cannot be */
  async cover(output: number): Promise<void> {
    // A pending extension may be granted; a rejected one may succeed now that other calls have released holds.
    await this.extending;
    // A partial grant is followed by another request, which says what is missing.
    while (output > this.covered) await this.extendTo(output);
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
    if (result.outcome !== 'extended') throw new OutOfCredit(result.outcome, result);
    this.held += result.granted;
    this.trusted = 0;
    this.measure();
  }

  /** Output up to which to extend. Beyond the bound, slice by slice again. */
  private reach(output: number): number {
    const { slice, bound } = this.line;
    return output > bound ? output + slice : Math.min(Math.max(output, this.covered) + slice, bound);
  }

  private trust(output: number): void {
    this.trusted = output;
    this.measure();
  }

  private measure(): void {
    const affordable = outputTokensFor(this.line.terms, this.prompt, this.held - this.reserve) ?? Infinity;
    this.covered = Math.max(affordable, this.trusted);
    this.extendFrom = affordable >= this.line.bound ? Infinity : this.covered - this.line.slice / 2;
  }
}
