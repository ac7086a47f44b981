import type { TokenUsage } from '../../protocols/contract/index.js';

/** Characters of a response that are kept for a count; what comes behind them is estimated by that count. */
const MAX_COUNTED_CHARACTERS = 256 * 1024;
/** Pieces are put together so often: each by itself would keep alive the event that it was cut from. */
const MAX_LOOSE_CHARACTERS = 4096;

/** Output that is to be counted by a tokenizer, in place of an estimate: the texts of a stream, or a whole response. */
export interface Uncounted {
  readonly said: readonly string[] | Uint8Array;
  /** Replaces the estimate by the count, unless a report has covered the text meanwhile. */
  readonly counted: (tokens: number) => void;
}

/**
 * The output of a call as far as it can be known while it runs, in tokens: what the upstream has reported, what a
 * tokenizer has counted since, what was estimated in passing behind that, and, of a model that reasons out of sight, what
 * it has probably thought.
 */
export class OutputCount {
  private reported = 0;
  private counted = 0;
  private estimated = 0;
  private thought = 0;
  /** What was estimated and can be counted; undefined as long as there is nothing. */
  private text: CountedText | undefined;
  /** All of a response that was not streamed. */
  private whole: Uint8Array | undefined;
  /** Grows with each report, which leaves nothing to be counted of what came before. */
  private era = 0;
  /** Since when nothing is known of a model that has begun; undefined when it has not, or need not be guessed at. */
  private silentSinceMs: number | undefined;

  /**
   * @param hiddenPerSecond what a model produces that shows nothing of it; 0 for one that shows everything
   * @param mostHidden nor can it have thought more than the call may say in all
   * @param keepsText for a count of what was estimated
   */
  constructor(
    private readonly hiddenPerSecond: number,
    private readonly mostHidden: number,
    private readonly keepsText = false,
  ) {}

  /** Another upstream is asked, and nothing of the one before is the client's. */
  restart(): void {
    this.forget();
    this.whole = undefined;
    this.reported = 0;
    this.silentSinceMs = undefined;
  }

  /** The upstream has answered its headers and shows nothing yet. */
  begin(nowMs: number): void {
    if (this.hiddenPerSecond > 0) this.silentSinceMs = nowMs;
  }

  /** Content: from here on everything is counted as it comes. Or the end, from which on nothing comes. */
  show(nowMs: number): void {
    this.thought = this.hidden(nowMs);
    this.silentSinceMs = undefined;
  }

  /**
   * @param units tokens, in fractions
   * @param lane which of several interleaved texts it continues
   */
  estimate(units: number, text?: string, lane = 0): void {
    this.estimated += units;
    if (this.keepsText && text !== undefined) (this.text ??= new CountedText(lane)).add(text, units, lane);
  }

  /** A response came whole: a count of it replaces everything that is known of the output. */
  come(whole: Uint8Array): void {
    this.whole = whole;
  }

  /** A report covers everything before it. One that knows of no output yet says nothing. */
  report({ output }: TokenUsage, nowMs: number): void {
    if (output === 0) return;
    this.forget();
    this.reported = output;
    if (this.silentSinceMs !== undefined) this.silentSinceMs = nowMs;
  }

  /** What was estimated so far, to be counted, once; undefined when there is nothing. */
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

  /** Without what may have been thought out of sight. */
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

/** Text as it comes, in little memory. */
class CountedText {
  /** Tokens that it was estimated at, and those of what came when there was no room for it. */
  units = 0;
  passed = 0;
  private characters = 0;
  /** The text that came last, and the others that it may alternate with. */
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

  /** Each text by itself. */
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
    // A character that was cut in two is put together with what comes next.
    const end = this.loose.length - (/[\ud800-\udbff]$/.test(this.loose) ? 1 : 0);
    this.pieces.push(Buffer.from(this.loose.slice(0, end)));
    this.loose = this.loose.slice(end);
  }
}
