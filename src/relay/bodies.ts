import { Injectable } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import type { CallBody, CallHead, HeadReader } from '../call/index.js';
import { Config } from '../config/index.js';
import { AppError } from '../shared/index.js';
import { BodyBudget } from './body-budget.js';
import { announcedBytes, BodyReader, type BodyWatcher, SLICE_BYTES, tooLarge } from './body-reader.js';
import { HeldBody } from './held-body.js';
import { RelayTimings } from './relay-timings.js';
import { Turns } from './turns.js';

/** Reads the bodies of requests: within limits of size, memory and time, and without holding up anything else. */
@Injectable()
export class Bodies {
  constructor(
    private readonly config: Config,
    private readonly budget: BodyBudget,
    private readonly timings: RelayTimings,
    private readonly turns: Turns,
  ) {}

  /**
   * The whole body; the watcher has seen all but the last slice of it by then. What is known to be too large by its
   * header is refused without reading it.
   * @throws AppError, also what the watcher throws
   */
  async read(request: IncomingMessage, watcher: BodyWatcher): Promise<HeldBody> {
    const { maxBodyBytes: maxBytes } = this.config;
    const announced = announcedBytes(request) ?? 0;
    refuseEncoded(request);
    if (announced > maxBytes) throw tooLarge(maxBytes);
    const share = this.budget.reserve(announced);
    const limits = { maxBytes, share, timings: this.timings, turns: this.turns };
    try {
      return new HeldBody(await new BodyReader(request, watcher, limits).read(), () => share.release());
    } catch (error) {
      share.release();
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

function refuseEncoded({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  throw new AppError(
    'unsupported_media_type',
    `The content-encoding "${encoding.slice(0, 40)}" is not supported: send the body as it is.`,
  );
}
