import type { BodySize, CallBody, PromptSample } from '../protocols/contract/index.js';
import type { BodyShare } from './body-budget.js';

/** A body of this size is kept whole while its answer comes, so that its prompt can be counted. */
const MAX_STORED_BYTES = 32 * 1024;
const SAMPLES = 32;
const SAMPLE_BYTES = MAX_STORED_BYTES / SAMPLES;

/**
 * A request's body in memory, and its share of what all bodies may take. Both are kept while another channel may be
 * tried, and for no longer: a prompt of 60 MB must not lie here for the half hour that its answer takes.
 */
export class HeldBody implements CallBody {
  private kept: Buffer | undefined;
  private rest: Buffer | PromptSample | undefined;

  constructor(
    bytes: Buffer,
    private readonly share: Pick<BodyShare, 'growTo' | 'shrinkTo' | 'release'>,
  ) {
    this.kept = bytes;
  }

  get bytes(): Buffer {
    if (this.kept === undefined) throw new TypeError('The body of a call was read after it was released.');
    return this.kept;
  }

  get countable(): Buffer | PromptSample | undefined {
    return this.kept ?? this.rest;
  }

  /**
   * Counts what is made of it until it is dropped, or counted again.
   * @param bytes beside its own
   * @throws AppError server_is_overloaded
   */
  countBeside(bytes: number): void {
    if (this.kept === undefined) return;
    this.share.growTo(this.kept.length + bytes);
    this.share.shrinkTo(this.kept.length + bytes);
  }

  /** Keeps what its prompt can be counted by. Again does nothing. */
  shrink(size: BodySize): void {
    if (this.kept !== undefined)
      this.rest = this.kept.length <= MAX_STORED_BYTES ? this.kept : sampleOf(this.kept, size);
    this.drop();
  }

  /** Again does nothing. */
  drop(): void {
    this.kept = undefined;
    this.share.release();
  }
}

/** Pieces from random places: of regular ones a client could choose what stands there. */
function sampleOf(bytes: Buffer, { media = [] }: BodySize): PromptSample {
  const texts: { start: number; end: number }[] = [];
  let from = 0;
  for (const { start, end } of [...media, { start: bytes.length, end: bytes.length }]) {
    if (start > from) texts.push({ start: from, end: start });
    from = end;
  }
  const total = texts.reduce((sum, { start, end }) => sum + end - start, 0);
  if (total <= MAX_STORED_BYTES)
    return { texts: texts.map(({ start, end }) => bytes.toString('utf8', start, end)), share: 1 };
  const pieces: string[] = [];
  let sampled = 0;
  let passed = 0;
  for (const { start, end } of texts) {
    const count = Math.ceil(((end - start) / total) * SAMPLES);
    const part = (end - start) / count;
    for (let index = 0; index < count && pieces.length < 2 * SAMPLES; index++) {
      const at = Math.floor(start + part * index + Math.random() * Math.max(0, part - SAMPLE_BYTES));
      const to = Math.min(end, at + SAMPLE_BYTES);
      pieces.push(bytes.toString('utf8', at, to));
      sampled += to - at;
    }
    passed += end - start;
  }
  return { texts: pieces, share: passed / sampled };
}
