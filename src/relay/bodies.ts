import { Injectable } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { Config } from '../platform/config/index.js';
import { ExpansionLimit } from '../platform/shared/index.js';
import type { BodySize, CallBody, CallHead, HeadReader, PromptSample } from '../protocols/contract/index.js';
import { BodyBudget, type BodyShare } from './body-budget.js';
import {
  announcedBytes,
  BodyMeasure,
  BodyReader,
  type BodyWatcher,
  corrupt,
  left,
  SLICE_BYTES,
  tooLarge,
  tooManyEncodings,
  unsupportedEncoding,
} from './body-reader.js';
import { RelayTimings } from './relay-timings.js';
import { TimeSlicer } from './time-slicer.js';

/** Reads the bodies of requests: within limits of size, memory and time, and without holding up anything else. */
@Injectable()
export class Bodies {
  constructor(
    private readonly config: Config,
    private readonly budget: BodyBudget,
    private readonly timings: RelayTimings,
    private readonly turns: TimeSlicer,
  ) {}

  /**
   * The whole body, decoded; the watcher has seen all but the last slice of it by then. What is known to be too large by
   * its header is refused without reading it.
   * @param accountId counted against this account's share of memory
   * @throws AppError, also what the watcher throws
   */
  async read(request: IncomingMessage, watcher: BodyWatcher, accountId: string): Promise<HeldBody> {
    const { maxBodyBytes: maxBytes } = this.config;
    const announced = announcedBytes(request) ?? 0;
    const encodings = encodingsOf(request);
    if (announced > maxBytes) throw tooLarge(maxBytes);
    const share = this.budget.open(accountId);
    const limits = { maxBytes, share, timings: this.timings, turns: this.turns };
    const decoded = encodings.length === 0 ? undefined : new DecodedBody(request, encodings, maxBytes);
    try {
      const bytes = await new BodyReader(decoded ?? request, watcher, limits).read();
      return new HeldBody(bytes, share);
    } catch (error) {
      share.release();
      decoded?.destroy();
      throw error;
    }
  }

  /** Reads the head from a body that is here already. */
  async readHead(reader: HeadReader, body: CallBody): Promise<CallHead> {
    const { bytes } = body;
    for (let seen = SLICE_BYTES; seen < bytes.length; seen += SLICE_BYTES) {
      await new Promise<void>((resolve) => this.turns.take(resolve));
      reader.next(bytes.subarray(0, seen));
    }
    return reader.end(body);
  }
}

/** Each has memory of its own. */
const MAX_ENCODINGS = 4;
/** 8 MiB, the most that RFC 9659 allows on the web: a frame says itself how much memory it takes. */
const ZSTD_WINDOW_LOG = 23;
const WHOLE = { rejectGarbageAfterEnd: true };

/** What undoes each encoding. Only gzip may have another part behind its end. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', () => createInflate(WHOLE)],
  ['br', () => createBrotliDecompress(WHOLE)],
  ['zstd', () => createZstdDecompress({ ...WHOLE, params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } })],
]);

/**
 * How a body was encoded for the way here, in this order; empty when it was not.
 * @throws AppError unsupported_media_type
 */
export function encodingsOf({ headers }: IncomingMessage): readonly string[] {
  const named = (headers['content-encoding'] ?? '').toLowerCase().split(',');
  const encodings = named.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
  const unknown = encodings.find((name) => !DECODERS.has(name));
  if (unknown !== undefined) throw unsupportedEncoding(unknown, [...DECODERS.keys()]);
  if (encodings.length > MAX_ENCODINGS) throw tooManyEncodings(MAX_ENCODINGS);
  return encodings;
}

/**
 * A request's body as it was before it was encoded. It is decoded as it comes and as it is read, and what stands between
 * two encodings is limited as the body is: what a few bytes unfold to is never in memory. Whoever stops reading destroys
 * it, which leaves the request as it is.
 */
export class DecodedBody extends Readable {
  /** Nobody has said how long it will be. */
  readonly headers = {};
  private readonly decoders: Transform[] = [];
  private readonly decoded: Readable;
  private readonly expansion = new ExpansionLimit();

  /** @param encodings at least one, of `encodingsOf` */
  constructor(
    private readonly request: IncomingMessage,
    encodings: readonly string[],
    maxBytes: number,
  ) {
    super();
    this.decoded = encodings.reduceRight<Readable>((encoded, name) => this.undo(encoded, name, maxBytes), request);
    const measure = new BodyMeasure(maxBytes, this.expansion);
    this.decoded
      .on('data', (chunk: Buffer) => {
        if (!this.isWithin(measure, chunk)) return;
        if (!this.push(chunk)) this.decoded.pause();
      })
      .once('end', () => this.push(null));
    // Of a client that has left already nothing more is told.
    if (request.destroyed) this.destroy();
    else request.once('close', this.onClose);
  }

  override _read(): void {
    this.decoded.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // It outlives its body, and knows this one.
    this.request.off('close', this.onClose).unpipe().removeAllListeners('data');
    for (const decoder of this.decoders) decoder.destroy();
    done(error);
  }

  private undo(encoded: Readable, name: string, maxBytes: number): Readable {
    const decoder = DECODERS.get(name)?.();
    if (decoder === undefined) throw new RangeError(`Unknown encoding: ${name}.`);
    this.decoders.push(decoder);
    const isArriving = encoded === this.request;
    const measure = isArriving ? new BodyMeasure(maxBytes) : new BodyMeasure(maxBytes, this.expansion);
    encoded.on('data', (chunk: Buffer) => {
      if (isArriving) this.expansion.compressed(chunk);
      this.isWithin(measure, chunk);
    });
    decoder.once('error', () => this.destroy(corrupt(name)));
    return encoded.pipe(decoder);
  }

  /** False when it is more than is allowed, which ends all of it. */
  private isWithin(measure: BodyMeasure, chunk: Buffer): boolean {
    try {
      measure.add(chunk);
      return true;
    } catch (error) {
      this.destroy(error as Error);
      return false;
    }
  }

  private readonly onClose = (): void => {
    if (!this.request.readableEnded) this.destroy(left());
  };
}

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
