import type { UsageBounds } from '../billing/index.js';
import type { Call, Frame } from '../call/index.js';
import type { CountedTokens, CountRequest } from '../tokens/index.js';
import type { Answer } from './answer.js';
import type { AnswerText } from './answer-text.js';
import type { FrameOutlet } from './frame-outlet.js';
import { ReportWatch } from './report-watch.js';
import type { UsageCounting } from './usage-counting.js';

interface Uncounted {
  readonly call: Call;
  readonly answer: Answer;
  readonly bounds: UsageBounds;
  readonly counting: UsageCounting;
  readonly places: CountRequest['places'];
  /** What was kept of a stream; undefined when the answer is whole. */
  readonly text: AnswerText | undefined;
}

/**
 * Keeps back the last frame of an answer until its words are counted, when it reported no usage, not all of it, or one
 * that cannot be true. Until then the request's
 * body is kept; nobody waits for long, and without a count the answer ends as it would have.
 */
export class CountedEnd implements FrameOutlet {
  private readonly report: ReportWatch;
  /** Part of it has gone already, so what comes last is not all of it. */
  private hasBegun = false;
  private isCounting = false;
  private isComplete = false;

  constructor(
    private readonly out: FrameOutlet,
    private readonly uncounted: Uncounted,
  ) {
    this.report = new ReportWatch(uncounted.bounds, uncounted.text !== undefined);
    uncounted.answer.keepBody();
  }

  next(frame: Frame): void {
    this.report.note(frame.signals);
    const isCountable = !this.report.isBelieved && (this.uncounted.text !== undefined || !this.hasBegun);
    this.hasBegun = true;
    if (!isCountable) this.uncounted.answer.dropBody();
    if (!isCountable || !frame.last) return this.out.next(frame);
    this.isCounting = true;
    void this.count(frame).then((tokens) => this.end(frame, tokens));
  }

  error(error: unknown): void {
    this.out.error(error);
  }

  complete(): void {
    this.isComplete = true;
    if (!this.isCounting) this.out.complete();
  }

  private count({ bytes }: Frame): Promise<CountedTokens | undefined> {
    const { call, counting, places, text } = this.uncounted;
    return counting.count({ prompt: call.body.bytes, answer: text?.texts ?? bytes, places });
  }

  private end(last: Frame, tokens: CountedTokens | undefined): void {
    this.isCounting = false;
    this.uncounted.answer.dropBody();
    this.out.next(tokens === undefined ? last : withCount(last, tokens, this.uncounted.text?.share ?? 1));
    if (this.isComplete) this.out.complete();
  }
}

const withCount = (last: Frame, { prompt, output }: CountedTokens, share: number): Frame => ({
  ...last,
  signals: [...last.signals, { type: 'counted', prompt, output: Math.ceil(output * share) }],
});
