import type { TokenUsage } from '../../protocols/contract/index.js';

/** Characters of a response kept for counting; the rest is extrapolated. */
const MAX_COUNTED_CHARACTERS = 256 * 1024;
/** Pieces are joined at this size: each keeps the event it was cut from in memory. */
const MAX_LOOSE_CHARACTERS = 4096;

/** Output to be counted by a tokenizer: the texts of a stream, or an unstreamed body. */
export interface Uncounted {
  readonly said: readonly string[] | Uint8Array;
  /** Replaces the estimate by the count, unless a report has covered the text meanwhile. */
  readonly counted: (tokens: number) => void;
}

/**
 * Output tokens of a running call as far as known: reported, then counted since the report, then estimated since the
 * count, plus assumed hidden reasoning.
 */
export class OutputCount {
  private reported = 0;
  private counted = 0;
  private estimated = 0;
  private thought = 0;
  /** Estimated text that can be counted; undefined if none. */
  private text: CountedText | undefined;
  /** Body of an unstreamed response. */
  private whole: Uint8Array | undefined;
  /** Incremented by each report, which supersedes earlier text. */
  private era = 0;
  /** Since when the model has been silent; undefined if it is not, or if hidden reasoning need not be assumed. */
  private silentSinceMs: number | undefined;

  /**
   * @param hiddenPerSecond assumed hidden reasoning tokens per second; 0 for models that show everything
   * @param mostHidden max hidden tokens: the output limit
   * @param keepsText whether to keep text for counting
   */
  constructor(
    private readonly hiddenPerSecond: number,
    private readonly mostHidden: number,
    private readonly keepsText = false,
  ) {}

  /** A new attempt: earlier output is not the client's. */
  restart(): void {
    this.forget();
    this.whole = undefined;
    this.reported = 0;
    this.silentSinceMs = undefined;
  }

  /** Response headers have arrived, but no content. */
  begin(nowMs: number): void {
    if (this.hiddenPerSecond > 0) this.silentSinceMs = nowMs;
  }

  /** Content or the end: from now on output is counted as it arrives. */
  show(nowMs: number): void {
    this.thought = this.hidden(nowMs);
    this.silentSinceMs = undefined;
  }

  /**
   * @param units estimated tokens
   * @param lane index of interleaved texts
   */
  estimate(units: number, text?: string, lane = 0): void {
    this.estimated += units;
    if (this.keepsText && text !== undefined) (this.text ??= new CountedText(lane)).add(text, units, lane);
  }

  /** An unstreamed body: its count replaces everything known of the output. */
  come(whole: Uint8Array): void {
    this.whole = whole;
  }

  /** Covers everything before it; ignored if it has no output yet. */
  report({ output }: TokenUsage, nowMs: number): void {
    if (output === 0) return;
    this.forget();
    this.reported = output;
    if (this.silentSinceMs !== undefined) this.silentSinceMs = nowMs;
  }

  /** Estimated output to be counted, once; undefined if none. */
  takeUncounted(): Uncounted | undefined {
    const { text, whole, era } = this;
    if (whole !== undefined) return { said: whole, counted: (tokens) => this.replaceBy(tokens) };
    if (text === undefined) return undefined;
    this.text = undefined;
    return {
      said: text.whole,
      counted: (tokens) => {
        if (era !== this.era) return;
        this.counted += tokens * (1 + text.passed / (text.units || 1));
        this.estimated = Math.max(0, this.estimated - text.units - text.passed);
      },
    };
  }

  total(nowMs: () => number): number {
    const hidden = this.silentSinceMs === undefined ? this.thought : this.hidden(nowMs());
    return Math.ceil(this.reported + this.counted + this.estimated + hidden);
  }

  /** Without assumed reasoning. */
  get shown(): number {
    return Math.ceil(this.reported + this.counted + this.estimated);
  }

  private replaceBy(tokens: number): void {
    this.forget();
    this.whole = undefined;
    this.reported = 0;
    this.counted = tokens;
  }

  private forget(): void {
    this.era += 1;
    this.counted = this.estimated = this.thought = 0;
    this.text = undefined;
  }

  private hidden(nowMs: number): number {
    if (this.silentSinceMs === undefined) return this.thought;
    const seconds = (nowMs - this.silentSinceMs) / 1000;
    return Math.min(this.mostHidden, Math.floor(seconds * this.hiddenPerSecond));
  }
}

/** Collects text in little memory. */
class CountedText {
  /** Estimated tokens, including those of text that was not kept. */
  units = 0;
  passed = 0;
  private characters = 0;
  /** The current text, and others interleaved with it. */
  private current: Lane;
  private lanes: Map<number, Lane> | undefined;

  constructor(lane: number) {
    this.current = new Lane(lane);
  }

  add(text: string, units: number, lane: number): void {
    if (text === '') return;
    if (this.characters >= MAX_COUNTED_CHARACTERS) {
      this.passed += units;
      return;
    }
    this.units += units;
    this.characters += text.length;
    if (lane !== this.current.number) this.change(lane);
    this.current.add(text);
  }

  /** Each text separately. */
  get whole(): readonly string[] {
    return Array.from(this.lanes?.values() ?? [this.current], (lane) => lane.whole);
  }

  private change(number: number): void {
    const lanes = (this.lanes ??= new Map([[this.current.number, this.current]]));
    this.current = lanes.get(number) ?? new Lane(number);
    lanes.set(number, this.current);
  }
}

class Lane {
  private readonly pieces: Buffer[] = [];
  private loose = '';

  constructor(readonly number: number) {}

  add(text: string): void {
    this.loose += text;
    if (this.loose.length >= MAX_LOOSE_CHARACTERS) this.gather();
  }

  get whole(): string {
    if (this.pieces.length === 0) return this.loose;
    this.gather();
    return Buffer.concat(this.pieces).toString('utf8');
  }

  private gather(): void {
    // Keeps a lone surrogate for the next piece.
    const end = this.loose.length - (/[\ud800-\udbff]$/.test(this.loose) ? 1 : 0);
    this.pieces.push(Buffer.from(this.loose.slice(0, end)));
    this.loose = this.loose.slice(end);
  }
}
