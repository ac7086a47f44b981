import { Injectable } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import type { CallBody, CallHead, HeadReader } from '../protocols/contract/index.js';
import { Config } from '../platform/config/index.js';
import { BodyBudget } from './body-budget.js';
import { announcedBytes, BodyReader, type BodyWatcher, SLICE_BYTES } from './body-reader.js';
import { tooLarge } from './body.errors.js';
import { DecodedBody, encodingsOf } from './decoded-body.js';
import { HeldBody } from './held-body.js';
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
