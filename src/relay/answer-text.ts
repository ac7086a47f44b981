import type { TextPiece } from '../call/index.js';

/** So many characters of an answer are kept; of what comes behind them only how much it is. */
const MAX_KEPT = 1024 * 1024;

/** What a model has written in one stream, for a count at its end. */
export class AnswerText {
  private readonly lanes = new Map<string, string[]>();
  private kept = 0;
  /** Of the events whose texts were kept, and of the others. */
  private keptBytes = 0;
  private otherBytes = 0;

  get isFull(): boolean {
    return this.kept >= MAX_KEPT;
  }

  /** @param bytes of the event that the texts were in */
  add(pieces: readonly TextPiece[], bytes: number): void {
    this.keptBytes += bytes;
    for (const { lane, text } of pieces) {
      this.kept += text.length;
      const texts = this.lanes.get(lane);
      if (texts === undefined) this.lanes.set(lane, [text]);
      else texts.push(text);
    }
  }

  /** For an event that comes when there is no room for its texts. */
  pass(bytes: number): void {
    this.otherBytes += bytes;
  }

  /** Each put together from its pieces. */
  get texts(): readonly string[] {
    return Array.from(this.lanes.values(), (texts) => texts.join(''));
  }

  /** How many times larger the stream was than the part of it whose texts were kept. */
  get share(): number {
    return 1 + this.otherBytes / Math.max(1, this.keptBytes);
  }
}
