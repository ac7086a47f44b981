import type { TokenUsage } from '../../protocols/contract/index.js';

/** Characters of a response kept for counting; the rest is extrapolated. */
const MAX_COUNTED_CHARACTERS = 256 * 1024;
/** Pieces are joined at this size: each keeps the event it was cut from in memory. */
const MAX_PENDING_CHARACTERS = 4096;

/** Output to be counted by a tokenizer: the texts of a stream, or an unstreamed body. */
export interface UncountedOutput {
  readonly content: readonly string[] | Uint8Array;
  /** Replaces the estimate by the count, unless a report has covered the text meanwhile. */
  readonly replaceBy: (tokens: number) => void;
}

/**
 * Output tokens of a running call as far as known: reported, then counted since the report, then estimated since the
 * count, plus assumed hidden reasoning.
 */
export class OutputCount {
  private reported = 0;
  private counted = 0;
  private estimated = 0;
  private reasoning = 0;
  /** Estimated text that can be counted; undefined if none. */
  private text: CountedText | undefined;
  /** Body of an unstreamed response. */
  private body: Uint8Array | undefined;
  /** Incremented by each report, which supersedes earlier text. */
  private generation = 0;
  /** Since when the model has been silent; undefined if it is not, or if hidden reasoning need not be assumed. */
  private silentSinceMs: number | undefined;

  /**
   * @param hiddenPerSecond assumed hidden reasoning tokens per second; 0 for models that show everything
   * @param maxHidden max hidden tokens: the output limit
   * @param keepsText whether to keep text for counting
   */
  constructor(
    private readonly hiddenPerSecond: number,
    private readonly maxHidden: number,
    private readonly keepsText = false,
  ) {}

  /** A new attempt: earlier output is not the client's. */
  restart(): void {
    this.forget();
    this.body = undefined;
    this.reported = 0;
    this.silentSinceMs = undefined;
  }

  /** Response headers have arrived, but no content. */
  begin(nowMs: number): void {
    if (this.hiddenPerSecond > 0) this.silentSinceMs = nowMs;
  }

  /** Content or the end: from now on output is counted as it arrives. */
  show(nowMs: number): void {
    this.reasoning = this.hidden(nowMs);
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
  setBody(body: Uint8Array): void {
    this.body = body;
  }

  /** Covers everything before it; ignored if it has no output yet. */
  report({ output }: TokenUsage, nowMs: number): void {
    if (output === 0) return;
    this.forget();
    this.reported = output;
    if (this.silentSinceMs !== undefined) this.silentSinceMs = nowMs;
  }

  /** Estimated output to be counted, once; undefined if none. */
  takeUncounted(): UncountedOutput | undefined {
    const { text, body, generation } = this;
    if (body !== undefined) return { content: body, replaceBy: (tokens) => this.replaceBy(tokens) };
    if (text === undefined) return undefined;
    this.text = undefined;
    return {
      content: text.texts,
      replaceBy: (tokens) => {
        if (generation !== this.generation) return;
        this.counted += tokens * (1 + text.skippedUnits / (text.units || 1));
        this.estimated = Math.max(0, this.estimated - text.units - text.skippedUnits);
      },
    };
  }

  total(nowMs: () => number): number {
    const hidden = this.silentSinceMs === undefined ? this.reasoning : this.hidden(nowMs());
    return Math.ceil(this.reported + this.counted + this.estimated + hidden);
  }

  /** Without assumed reasoning. */
  get shown(): number {
    return Math.ceil(this.reported + this.counted + this.estimated);
  }

  private replaceBy(tokens: number): void {
    this.forget();
    this.body = undefined;
    this.reported = 0;
    this.counted = tokens;
  }

  private forget(): void {
    this.generation += 1;
    this.counted = this.estimated = this.reasoning = 0;
    this.text = undefined;
  }

  private hidden(nowMs: number): number {
    if (this.silentSinceMs === undefined) return this.reasoning;
    const seconds = (nowMs - this.silentSinceMs) / 1000;
    return Math.min(this.maxHidden, Math.floor(seconds * this.hiddenPerSecond));
  }
}

/** Collects text in little memory. */
class CountedText {
  /** Estimated tokens, including those of text that was not kept. */
  units = 0;
  skippedUnits = 0;
  private characters = 0;
  /** The current text, and others interleaved with it. */
  private current: TextLane;
  private lanes: Map<number, TextLane> | undefined;

  constructor(lane: number) {
    this.current = new TextLane(lane);
  }

  add(text: string, units: number, lane: number): void {
    if (text === '') return;
    if (this.characters >= MAX_COUNTED_CHARACTERS) {
      this.skippedUnits += units;
      return;
    }
    this.units += units;
    this.characters += text.length;
    if (lane !== this.current.number) this.change(lane);
    this.current.add(text);
  }

  /** Each text separately. */
  get texts(): readonly string[] {
    return Array.from(this.lanes?.values() ?? [this.current], (lane) => lane.text);
  }

  private change(number: number): void {
    const lanes = (this.lanes ??= new Map([[this.current.number, this.current]]));
    this.current = lanes.get(number) ?? new TextLane(number);
    lanes.set(number, this.current);
  }
}

class TextLane {
  private readonly pieces: Buffer[] = [];
  private pending = '';

  constructor(readonly number: number) {}

  add(text: string): void {
    this.pending += text;
    if (this.pending.length >= MAX_PENDING_CHARACTERS) this.flush();
  }

  get text(): string {
    if (this.pieces.length === 0) return this.pending;
    this.flush();
    return Buffer.concat(this.pieces).toString('utf8');
  }

  private flush(): void {
    // Keeps a lone surrogate for the next piece.
    const end = this.pending.length - (/[\ud800-\udbff]$/.test(this.pending) ? 1 : 0);
    this.pieces.push(Buffer.from(this.pending.slice(0, end)));
    this.pending = this.pending.slice(end);
  }
}
