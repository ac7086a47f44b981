import type { CallResult } from '../call/index.js';
import { AppError } from '../shared/index.js';
import type { AnswerSink } from './answer-sink.js';
import type { WholeAnswer } from './whole-answer.js';

/** What is larger cannot be an answer, and would be held in memory. */
const MAX_BYTES = 64 * 1024 * 1024;

/** An unstreamed answer of an upstream, read when it is complete. */
export class TranslatedWhole implements AnswerSink {
  private chunks: Uint8Array[] = [];
  private size = 0;

  constructor(
    private readonly answer: WholeAnswer,
    private readonly decode: (body: string) => CallResult,
  ) {}

  chunk(bytes: Uint8Array): void {
    this.chunks.push(bytes);
    this.size += bytes.length;
    if (this.size <= MAX_BYTES) return;
    this.stop();
    this.answer.fail(new AppError('upstream_error', 'The upstream sent an answer that is too large.'));
  }

  end(): void {
    try {
      this.answer.tell(this.decode(Buffer.concat(this.chunks).toString('utf8')));
    } catch (error) {
      return this.answer.fail(error);
    }
    this.answer.complete();
  }

  fail(error: unknown): void {
    this.answer.fail(error);
  }

  stop(): void {
    this.chunks = [];
  }
}
