import type { Call, CallSignal, VerbatimLane } from '../protocols/contract/index.js';
import type { CallContext } from './call-context.js';
import type { FrameOutlet } from './frame-outlet.js';
import { ResponseSize } from './response-size.js';
import type { ResponseSink } from './response-sink.js';

/** Up to this size an answer is kept whole, so that a late failure is still an HTTP error and may be tried elsewhere. */
const MAX_WHOLE_BYTES = 8 * 1024 * 1024;
/** Where usage stands in answers too long to keep: near the end, in every dialect; with some servers in front. */
const EDGE_BYTES = 64 * 1024;
const BYTES_PER_TOKEN = 4;

/** An unstreamed answer on its way to a client of the same dialect: one frame, or chunks when it is very long. */
export class VerbatimWhole implements ResponseSink {
  private chunks: Uint8Array[] = [];
  private size = 0;
  /** Also of one that passes in pieces, which may come compressed a thousand times. */
  private readonly limit = ResponseSize.ofWhole();
  /** It was larger than that. */
  private isOver = false;
  /** Of an answer too long to keep. */
  private beginning: Buffer | undefined;

  constructor(
    private readonly out: FrameOutlet,
    private readonly lane: VerbatimLane,
    private readonly call: Call,
    private readonly answer: CallContext,
  ) {}

  chunk(bytes: Uint8Array): void {
    if (this.isOver) return;
    try {
      this.limit.add(bytes);
    } catch (error) {
      return this.giveUp(error);
    }
    this.chunks.push(bytes);
    this.size += bytes.length;
    if (this.size > MAX_WHOLE_BYTES) this.passOn();
  }

  end(): void {
    if (this.isOver) return;
    const bytes = Buffer.concat(this.chunks);
    try {
      const signals = this.signalsOf(bytes);
      this.answer.commit();
      this.out.next({ bytes, signals, last: true });
      this.out.complete();
    } catch (error) {
      this.out.error(error);
    }
  }

  fail(error: unknown): void {
    this.out.error(error);
  }

  stop(): void {
    this.chunks = [];
  }

  private giveUp(error: unknown): void {
    this.isOver = true;
    this.stop();
    this.out.error(error);
  }

  private signalsOf(bytes: Buffer): readonly CallSignal[] {
    if (this.beginning === undefined) return [...this.lane.meterResponse(this.call, bytes), { type: 'whole', bytes }];
    const usage = usageIn([bytes, this.beginning]);
    // The client has most of it: what cannot be read any more is charged by its size.
    const output: CallSignal = { type: 'output', units: Math.ceil(this.size / BYTES_PER_TOKEN) };
    if (usage === undefined) return [output];
    return [output, ...this.lane.meterResponse(this.call, usage).filter(({ type }) => type !== 'output')];
  }

  /** Lets go of all but the last bytes, which are kept back for the settlement and hold the usage. */
  private passOn(): void {
    const bytes = Buffer.concat(this.chunks);
    const cut = Math.max(0, bytes.length - EDGE_BYTES);
    this.chunks = [bytes.subarray(cut)];
    if (cut === 0) return;
    this.beginning ??= Buffer.from(bytes.subarray(0, EDGE_BYTES));
    const signals = this.answer.committed ? [] : [{ type: 'content' } as const];
    this.answer.commit();
    this.out.next({ bytes: bytes.subarray(0, cut), signals, last: false });
  }
}

/**
 * The usage that stands in these pieces of an answer, with that of hosted tools, as an object of its own; undefined when
 * it is in none. The first piece that has a member counts.
 */
function usageIn(pieces: readonly Buffer[]): Buffer | undefined {
  const texts = pieces.map((piece) => piece.toString('latin1'));
  const [usage, ofTools] = ['usage', 'tool_usage'].map((name) =>
    texts.map((text) => memberIn(text, name)).find((member) => member !== undefined),
  );
  if (usage === undefined) return undefined;
  return Buffer.from(`{${usage}${ofTools === undefined ? '' : `,${ofTools}`}}`, 'latin1');
}

/** A member whose value is an object, by the last place where it stands. */
function memberIn(text: string, name: string): string | undefined {
  const start = [...text.matchAll(new RegExp(`"${name}"\\s*:\\s*\\{`, 'g'))].at(-1)?.index;
  if (start === undefined) return undefined;
  let depth = 0;
  // Strings are skipped whole: what stands in them closes nothing.
  for (const { 0: token, index } of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth += 1;
    else if (token === '}' && --depth === 0) return text.slice(start, start + index + 1);
  }
  return undefined;
}
