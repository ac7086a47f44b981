import type { TokenUsage } from '../call/index.js';

/** Bytes of an answer that are kept for a count; what comes behind them stays an estimate. */
const MAX_KEPT_BYTES = 256 * 1024;
/** Pieces are put together so often: each by itself would keep alive the event that it was cut from. */
const MAX_LOOSE_CHARACTERS = 4096;

/** Estimated text that is to be replaced by a tokenizer's count. */
export interface Uncounted {
  readonly text: string;
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
  /** What was estimated and can be counted. */
  private text = new KeptText();
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

  /** @param units tokens, in fractions */
  estimate(units: number, text?: string): void {
    this.estimated += units;
    if (this.keepsText && text !== undefined) this.text.add(text, units);
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
    const { text, era } = this;
    if (text.units === 0) return undefined;
    this.text = new KeptText();
    return {
      text: text.whole,
      counted: (tokens) => {
        if (era !== this.era) return;
        this.counted += tokens;
        this.estimated = Math.max(0, this.estimated - text.units);
      },
    };
  }

  total(nowMs: () => number): number {
    const hidden = this.silentSinceMs === undefined ? this.thought : this.hidden(nowMs());
    return Math.ceil(this.reported + this.counted + this.estimated + hidden);
  }

  private forget(): void {
    this.era += 1;
    this.counted = this.estimated = this.thought = 0;
    this.text = new KeptText();
  }

  private hidden(nowMs: number): number {
    if (this.silentSinceMs === undefined) return this.thought;
    const seconds = (nowMs - this.silentSinceMs) / 1000;
    return Math.min(this.mostHidden, Math.floor(seconds * this.hiddenPerSecond));
  }
}

/** Text as it comes, in little memory. */
class KeptText {
  /** Tokens that it was estimated at. */
  units = 0;
  private readonly pieces: Buffer[] = [];
  private bytes = 0;
  private loose = '';

  add(text: string, units: number): void {
    if (this.bytes >= MAX_KEPT_BYTES) return;
    this.units += units;
    this.loose += text;
    if (this.loose.length >= MAX_LOOSE_CHARACTERS) this.gather();
  }

  get whole(): string {
    this.gather();
    return Buffer.concat(this.pieces).toString('utf8');
  }

  private gather(): void {
    // A character that was cut in two is put together with what comes next.
    const end = this.loose.length - (/[\ud800-\udbff]$/.test(this.loose) ? 1 : 0);
    const piece = Buffer.from(this.loose.slice(0, end));
    this.pieces.push(piece);
    this.bytes += piece.length;
    this.loose = this.loose.slice(end);
  }
}
