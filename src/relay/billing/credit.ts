import { type TokenUsage } from '../../protocols/contract/index.js';
import type { ExtensionResult } from './admission.js';
import { AdmissionUnavailable, OutOfCredit } from './billing.errors.js';
import { costWithOutput, outputTokensFor, promptOfSize, type PriceTerms } from './price.js';

/** The money behind one stream. Tokens are of all answers together, amounts in nanos. */
export interface CreditLine {
  readonly terms: PriceTerms;
  /** The prompt as it is held for. */
  readonly prompt: TokenUsage;
  /** What is held beside prompt and output, for tools and passes. Nanos. */
  readonly reserve?: bigint;
  /** More output than this should not come: nothing is asked for ahead beyond it, until that is clearly wrong. */
  readonly bound: number;
  /** How much output is added to the hold at a time. */
  readonly slice: number;
  /** What admission granted. */
  readonly held: bigint;
}

/** Asks for `want` more than the `held` of so far. @throws AdmissionUnavailable without a database */
type Extend = (held: bigint, want: bigint) => Promise<ExtensionResult>;

/**
 * How much output of a stream is paid for. The hold is raised slice by slice ahead of use, so that a stream neither waits
 * for money that is there nor says more than wallet, key and budgets can pay. What is asked of it for each event is a
 * comparison of two numbers.
 */
export class Credit {
  private held: bigint;
  /** The prompt as it was estimated, then as it was reported. */
  private prompt: TokenUsage;
  /** The upstream has said what the prompt came to. */
  private isReported = false;
  /** Output tokens that the hold pays for. */
  private covered = 0;
  /** Output that is let pass although nobody could say that it is paid for. */
  private trusted = 0;
  /** From so much output on, more is asked for. */
  private askFrom = 0;
  private asking: Promise<void> | undefined;

  constructor(
    private readonly line: CreditLine,
    private readonly extend: Extend,
  ) {
    this.held = line.held;
    this.prompt = line.prompt;
    this.measure();
  }

  /** More output than this should not come. */
  get bound(): number {
    return this.line.bound;
  }

  /** Whether so much output is paid for. Asks for more before it is not. */
  covers(output: number): boolean {
    if (output >= this.askFrom) this.askAhead(output);
    return output <= this.covered;
  }

  /** Resolves when so much output is paid for. @throws OutOfCredit when it cannot be */
  async cover(output: number): Promise<void> {
    // What was asked for ahead may be there already, or have been refused before other calls gave back what they held.
    await this.asking;
    // Less may be given than was asked for; then the next answer says who has no more.
    while (output > this.covered) await this.ask(output);
  }

  /** The upstream has said what the prompt came to. */
  report(usage: TokenUsage): void {
    if (usage.input === 0) return;
    // Tools and passes are in the reserve.
    const { toolUses: _uses, passes: _passes, ...tokens } = usage;
    this.isReported = true;
    this.prompt = { ...tokens, output: 0, reasoning: 0 };
    this.measure();
  }

  /** A tokenizer has counted the prompt, which was held for by a bound. */
  count(promptTokens: number): void {
    if (this.isReported) return;
    this.prompt = promptOfSize(this.line.prompt, Math.min(promptTokens, this.line.prompt.input));
    this.measure();
  }

  /** Output that the hold pays for beside everything else that was used. */
  payableOutput(usage: TokenUsage): number {
    return outputTokensFor(this.line.terms, { ...usage, output: 0, reasoning: 0 }, this.held) ?? Infinity;
  }

  private get reserve(): bigint {
    return this.line.reserve ?? 0n;
  }

  private askAhead(output: number): void {
    // Once for each slice: whoever needs it and does not get it asks again.
    this.askFrom = Infinity;
    this.asking ??= this.ask(output)
      .catch(() => undefined)
      .finally(() => (this.asking = undefined));
  }

  private async ask(output: number): Promise<void> {
    const upTo = this.reach(output);
    const cost = costWithOutput(this.line.terms, this.prompt)(upTo) + this.reserve;
    const want = cost > this.held ? cost - this.held : 1n;
    const result = await this.extend(this.held, want).catch((error: unknown) => {
      if (error instanceof AdmissionUnavailable) return undefined;
      throw error;
    });
    // Without a database, and when a sweeper has closed the call meanwhile, a running stream goes on: settlement collects
    // what there is then.
    if (result === undefined || result.outcome === 'closed') return this.trust(upTo);
    if (result.outcome !== 'extended') throw new OutOfCredit(result.outcome, result);
    this.held += result.granted;
    this.trusted = 0;
    this.measure();
  }

  /** Up to where more is asked for. An upstream that has passed its bound is paid for slice by slice again. */
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
    this.askFrom = affordable >= this.line.bound ? Infinity : this.covered - this.line.slice / 2;
  }
}
