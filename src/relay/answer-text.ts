import type { TextPiece } from '../call/index.js';

/** So many characters of an answer are kept; of what comes behind them only how long it is. */
const MAX_KEPT = 1024 * 1024;

/** What a model has written in one stream, for a count at its end. */
export class AnswerText {
  private readonly lanes = new Map<string, string[]>();
  private kept = 0;
  private all = 0;

  add(pieces: readonly TextPiece[]): void {
    for (const { lane, text } of pieces) {
      this.all += text.length;
      if (this.kept + text.length > MAX_KEPT) continue;
      this.kept += text.length;
      const texts = this.lanes.get(lane);
      if (texts === undefined) this.lanes.set(lane, [text]);
      else texts.push(text);
    }
  }

  /** Each put together from its pieces. */
  get texts(): readonly string[] {
    return Array.from(this.lanes.values(), (texts) => texts.join(''));
  }

  /** How many times longer the answer is than what was kept of it. */
  get share(): number {
    return this.kept === 0 ? 1 : this.all / this.kept;
  }
}
