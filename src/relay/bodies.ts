import { Injectable } from '@nestjs/common';
import { Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { Config } from '../platform/config/index.js';
import { AppError, ExpansionLimit } from '../platform/shared/index.js';
import type { BodySize, CallBody, CallHead, HeadReader, PromptSample } from '../protocols/contract/index.js';
import { BodyBudget, type BodyShare } from './body-budget.js';
import {
  announcedBytes,
  BodyMeasure,
  BodyReader,
  type BodyWatcher,
  clientLeft,
  type IncomingBody,
  SLICE_BYTES,
  tooLarge,
} from './body-reader.js';
import { RelayTimings } from './relay-timings.js';
import { TimeSlicer } from './translation-job.js';

/** Reads request bodies within limits of size, memory and time, without blocking the event loop. */
@Injectable()
export class Bodies {
  constructor(
    private readonly config: Config,
    private readonly budget: BodyBudget,
    private readonly timings: RelayTimings,
    private readonly slicer: TimeSlicer,
  ) {}

  /**
   * Reads the whole body, decoded; the watcher has then seen all but its last slice. Bodies announced as too large are
   * rejected unread.
   * @param accountId whose share of memory is used
   * @throws AppError, including errors of the watcher
   */
  async read(request: IncomingBody, watcher: BodyWatcher, accountId: string): Promise<HeldBody> {
    const { maxBodyBytes: maxBytes } = this.config;
    const announced = announcedBytes(request) ?? 0;
    const encodings = encodingsOf(request);
    if (announced > maxBytes) throw tooLarge(maxBytes);
    const share = this.budget.open(accountId);
    const whole = encodings.length === 0 ? arrivedWhole(request, announced, share) : undefined;
    if (whole !== undefined) return new HeldBody(whole, share);
    const limits = { maxBytes, share, timings: this.timings, slicer: this.slicer };
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

  /** Reads the head of a complete body. */
  async readHead(reader: HeadReader, body: CallBody): Promise<CallHead> {
    await this.readAhead(reader, body.bytes);
    return reader.end(body);
  }

  /** Shows all but the last slice of complete bytes to a reader, without blocking the event loop. */
  async readAhead(reader: BodyWatcher, bytes: Buffer): Promise<void> {
    for (let seen = SLICE_BYTES; seen < bytes.length; seen += SLICE_BYTES) {
      await new Promise<void>((resolve) => this.slicer.take(resolve));
      reader.next(bytes.subarray(0, seen));
    }
  }
}

/**
 * A body that arrived with its headers, as small ones do: it needs neither listeners nor a timer. Undefined if it did
 * not, or must be read in slices.
 */
function arrivedWhole(request: IncomingBody, announced: number, share: BodyShare): Buffer | undefined {
  const { complete, destroyed, readableLength } = request;
  const isWhole = complete === true && !destroyed && readableLength === announced;
  if (!isWhole || announced === 0 || announced > SLICE_BYTES) return undefined;
  try {
    share.growTo(announced);
  } catch (error) {
    share.release();
    throw error;
  }
  return request.read() as Buffer;
}

/** Each needs memory of its own. */
const MAX_ENCODINGS = 4;
/** 8 MiB, the maximum for the web (RFC 9659): a frame declares its own window. */
const ZSTD_WINDOW_LOG = 23;
const WHOLE = { rejectGarbageAfterEnd: true };

/** Decoders by encoding. Only gzip allows multiple members. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', () => createInflate(WHOLE)],
  ['br', () => createBrotliDecompress(WHOLE)],
  ['zstd', () => createZstdDecompress({ ...WHOLE, params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } })],
]);

/**
 * Content encodings of a body in order of application; empty if none.
 * @throws AppError unsupported_media_type
 */
export function encodingsOf({ headers }: IncomingBody): readonly string[] {
  const names = (headers['content-encoding'] ?? '').toLowerCase().split(',');
  const encodings = names.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
  const unknown = encodings.find((name) => !DECODERS.has(name));
  if (unknown !== undefined)
    throw unsupported(
      `The content-encoding "${unknown.slice(0, 40)}" is not supported. Use ${[...DECODERS.keys()].join(', ')}, or no encoding.`,
    );
  if (encodings.length > MAX_ENCODINGS)
    throw unsupported(`The body has more than ${MAX_ENCODINGS} content encodings. Send it without.`);
  return encodings;
}

const unsupported = (message: string): AppError => new AppError('unsupported_media_type', message);

/**
 * A request body decoded on demand. The output of every stage is limited like the body itself, so that a small input
 * cannot expand in memory. Stop reading by destroying it; the request itself stays intact.
 */
export class DecodedBody extends Readable {
  /** The decoded length is unknown. */
  readonly headers = {};
  private readonly decoders: Transform[] = [];
  private readonly decoded: Readable;
  private readonly expansion = new ExpansionLimit();

  /** @param encodings not empty, from `encodingsOf` */
  constructor(
    private readonly request: IncomingBody,
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
    // The client has already left.
    if (request.destroyed) this.destroy();
    else request.once('close', this.onClose);
  }

  override _read(): void {
    this.decoded.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // The request outlives its body and holds a reference to this.
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
    decoder.once('error', () =>
      this.destroy(new AppError('invalid_request', `The body is not valid ${name}, as declared in content-encoding.`)),
    );
    return encoded.pipe(decoder);
  }

  /** False, ending everything, if a limit is exceeded. */
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
    if (!this.request.readableEnded) this.destroy(clientLeft());
  };
}

/** Bodies up to this size are kept during the response, so that their prompt can be counted. */
const MAX_STORED_BYTES = 32 * 1024;
const SAMPLES = 32;
const SAMPLE_BYTES = MAX_STORED_BYTES / SAMPLES;

/**
 * A request body in memory and its share of the budget. Kept only while another channel may be tried: a prompt of 60 MB
 * must not stay for the half hour of its response.
 */
export class HeldBody implements CallBody {
  private buffer: Buffer | undefined;
  private sample: Buffer | PromptSample | undefined;

  constructor(
    bytes: Buffer,
    private readonly share: Pick<BodyShare, 'growTo' | 'shrinkTo' | 'release'>,
  ) {
    this.buffer = bytes;
  }

  get bytes(): Buffer {
    if (this.buffer === undefined) throw new TypeError('The body of a call was read after it was released.');
    return this.buffer;
  }

  get countable(): Buffer | PromptSample | undefined {
    return this.buffer ?? this.sample;
  }

  /**
   * Reserves memory for derived data until the body is dropped or this is called again.
   * @param bytes besides the body's own
   * @throws AppError server_is_overloaded
   */
  reserveBeside(bytes: number): void {
    if (this.buffer === undefined) return;
    this.share.growTo(this.buffer.length + bytes);
    this.share.shrinkTo(this.buffer.length + bytes);
  }

  /** Reduces the body to what counting its prompt needs. Idempotent. */
  shrink(size: BodySize): void {
    if (this.buffer !== undefined)
      this.sample = this.buffer.length <= MAX_STORED_BYTES ? this.buffer : sampleOf(this.buffer, size);
    this.drop();
  }

  /** Idempotent. */
  drop(): void {
    this.buffer = undefined;
    this.share.release();
  }
}

/** Samples from random positions, so that clients cannot choose what is sampled. */
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
