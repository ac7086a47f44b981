import { NO_TOKENS, type TokenUsage } from '../call/index.js';
import type { ExtensionResult } from './admission.js';
import { AdmissionUnavailable, OutOfCredit } from './billing.errors.js';
import { costWithOutput, outputTokensFor, type PriceTerms } from './price.js';

/** Some text is counted so many times too high: what is more than that beyond a limit was not limited. */
const MOST_OVERCOUNT = 4;

/** The money behind one stream. Tokens are of all answers together, amounts in nanos. */
export interface CreditLine {
  readonly terms: PriceTerms;
  /** What the prompt was estimated at. */
  readonly promptTokens: number;
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
    this.prompt = { ...NO_TOKENS, input: line.promptTokens };
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
    this.prompt = { ...usage, output: 0, reasoning: 0 };
    this.measure();
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
    const cost = costWithOutput(this.line.terms, this.prompt)(upTo);
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
    const affordable = outputTokensFor(this.line.terms, this.prompt, this.held) ?? Infinity;
    const bounded = affordable >= this.line.bound;
    const paid = bounded ? Math.max(affordable, this.line.bound * MOST_OVERCOUNT) : affordable;
    this.covered = Math.max(paid, this.trusted);
    this.askFrom = bounded ? Infinity : this.covered - this.line.slice / 2;
  }
}
