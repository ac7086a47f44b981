import type { IncomingMessage } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { ExpansionLimit } from '../platform/shared/index.js';
import { BodyMeasure } from './body-measure.js';
import { corrupt, left, tooManyEncodings, unsupportedEncoding } from './body.errors.js';

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
