import { Injectable } from '@nestjs/common';
import { Observable, type Subscriber, type Subscription } from 'rxjs';
import { Config } from '../platform/config/index.js';
import { AppError } from '../platform/shared/index.js';
import { Flow, type Frame, type Waits } from '../protocols/contract/index.js';
import type { ReplyState, ReplyFacts } from './call-context.js';

/** Max bytes buffered for later clients, and max lag of one client behind the others. */
const MAX_SHARED_BYTES = 8 * 1024 * 1024;
/** Max lag when memory is short: about one socket buffer. */
const SMALL_LAG_BYTES = 256 * 1024;

/** A client of the response and its progress. */
interface SharingClient {
  readonly out: Subscriber<Frame>;
  readonly flow: Flow;
  /** Frames and bytes sent. */
  frames: number;
  bytes: number;
}

/**
 * The response of one running call for any number of clients, each from the beginning and at its own pace. Subscribes
 * to the call with the first client and unsubscribes with the last. Besides the reply writer, the only subscriber of
 * calls.
 */
export class SharedResponse {
  /** Resolves when the call has ended. */
  readonly over: Promise<void>;
  private readonly clients = new Set<SharingClient>();
  private buffered: Frame[] = [];
  /** Number of frames discarded before the buffered ones. */
  private discarded = 0;
  /** Bytes received, and bytes buffered. */
  private bytes = 0;
  private bufferedBytes = 0;
  private partial: string | undefined;
  private source: Subscription | undefined;
  private ending: { readonly error?: unknown } | undefined;
  private resolveOver: () => void = () => undefined;

  constructor(
    /** ID of the running call. */
    readonly callId: string,
    private readonly response: ReplyState,
    private readonly frames: Observable<Frame>,
    private readonly memory: SharedMemory,
  ) {
    this.over = new Promise((resolve) => (this.resolveOver = resolve));
  }

  /** Why a new client could not get all of it; undefined if it can. */
  get partialReason(): string | undefined {
    return this.partial;
  }

  /**
   * The frames for one client, and what its writer needs to know.
   * @param waits records stalls of this client, if it has a row of its own
   */
  reply(waits?: Waits): { readonly facts: ReplyFacts; readonly frames: Observable<Frame> } {
    const { response } = this;
    const flow = new Flow(waits);
    const facts: ReplyFacts = {
      flow,
      get tail() {
        return response.tail;
      },
      // A client that falls behind fails alone: the stream continues for the others.
      failure: (error) => (this.ending === undefined ? undefined : response.failure(error)),
      get headers() {
        return response.headers;
      },
      serverTiming: () => response.serverTiming(),
    };
    return { facts, frames: new Observable((out) => this.join({ out, flow, frames: 0, bytes: 0 })) };
  }

  private join(client: SharingClient): () => void {
    this.clients.add(client);
    const detach = client.flow.attach({
      pause: () => this.updateFlow(),
      resume: () => {
        this.serve(client);
        this.updateFlow();
      },
    });
    this.serve(client);
    if (this.ending === undefined && this.source === undefined) this.start();
    // The remaining clients may all be stalled.
    else if (this.ending === undefined) this.updateFlow();
    return () => {
      detach();
      this.clients.delete(client);
      if (this.clients.size > 0) return this.updateFlow();
      this.end({});
      this.memory.giveBack(this.bufferedBytes);
      this.bufferedBytes = 0;
    };
  }

  private start(): void {
    this.source = this.frames.subscribe({
      next: (frame) => this.take(frame),
      error: (error: unknown) => this.end({ error }),
      complete: () => this.end({}),
    });
  }

  private take(frame: Frame): void {
    const { length } = frame.bytes;
    this.buffered.push(frame);
    this.bytes += length;
    this.bufferedBytes += length;
    this.memory.take(length);
    for (const client of this.clients) this.serve(client);
    if (this.bytes > MAX_SHARED_BYTES) this.partial ??= `it exceeds ${MAX_SHARED_BYTES} bytes`;
    if (this.memory.isShort) this.partial ??= 'memory for shared responses is exhausted';
    if (this.partial !== undefined) this.trim();
  }

  /** Sends a client what it lacks, as far as it accepts it. */
  private serve(client: SharingClient): void {
    const { out, flow } = client;
    while (!flow.paused && !out.closed) {
      const frame = this.buffered[client.frames - this.discarded];
      if (frame === undefined) break;
      client.frames += 1;
      client.bytes += frame.bytes.length;
      out.next(frame);
    }
    if (this.ending === undefined || client.frames < this.discarded + this.buffered.length) return;
    if ('error' in this.ending) out.error(this.ending.error);
    else out.complete();
  }

  /** Once no further client can join: discards what all have received, and drops clients that lag too far. */
  private trim(): void {
    this.dropLagging(MAX_SHARED_BYTES);
    this.discardReceived();
    if (!this.memory.isShort) return;
    this.dropLagging(SMALL_LAG_BYTES);
    this.discardReceived();
  }

  private dropLagging(maxLagBytes: number): void {
    const furthest = Math.max(...Array.from(this.clients, ({ bytes }) => bytes));
    for (const { bytes, out } of this.clients)
      if (furthest - bytes > maxLagBytes) out.error(new TooFarBehind(this.callId, maxLagBytes));
  }

  private discardReceived(): void {
    if (this.clients.size === 0) return;
    const received = Math.min(...Array.from(this.clients, ({ frames }) => frames));
    const dropped = this.buffered
      .splice(0, received - this.discarded)
      .reduce((sum, { bytes }) => sum + bytes.length, 0);
    this.discarded = received;
    this.bufferedBytes -= dropped;
    this.memory.giveBack(dropped);
  }

  /** Reads from the upstream while at least one client reads. */
  private updateFlow(): void {
    const isPaused = Array.from(this.clients).every(({ flow }) => flow.paused);
    if (isPaused) this.response.flow.hold('client');
    else this.response.flow.release('client');
  }

  private end(ending: { readonly error?: unknown }): void {
    if (this.ending !== undefined) return;
    this.ending = ending;
    this.resolveOver();
    this.source?.unsubscribe();
    for (const client of this.clients) this.serve(client);
  }
}

interface SharedCall {
  readonly fingerprint: string;
  readonly response: SharedResponse;
}

/** Running calls of this process by API key and idempotency key. */
export class SharedResponseRegistry {
  private readonly running = new Map<string, SharedCall>();

  /**
   * The response to share; undefined if no such call runs.
   * @throws IdempotencyKeyMismatch, ResponseIncomplete
   */
  find(name: string, fingerprint: string): SharedResponse | undefined {
    const running = this.running.get(name);
    if (running === undefined) return undefined;
    const { response } = running;
    if (running.fingerprint !== fingerprint) throw new IdempotencyKeyMismatch(response.callId);
    if (response.partialReason !== undefined) throw new ResponseIncomplete(response.callId, response.partialReason);
    return response;
  }

  /** Registers the call until it ends. */
  add(name: string, fingerprint: string, response: SharedResponse): void {
    this.running.set(name, { fingerprint, response });
    void response.over.then(() => this.running.delete(name));
  }
}

class IdempotencyKeyMismatch extends AppError {
  constructor(callId: string) {
    super(
      'invalid_request',
      `This Idempotency-Key belongs to a different request, ${callId}, which is still running. Use a unique key for each request.`,
    );
  }
}

class ResponseIncomplete extends AppError {
  constructor(callId: string, reason: string) {
    super(
      'conflict',
      `A request with this Idempotency-Key, ${callId}, is still running, and its response can no longer be shared: ${reason}. Wait for that request or use another key.`,
    );
  }
}

class TooFarBehind extends AppError {
  constructor(callId: string, bytes: number) {
    super(
      'timeout',
      `This client fell more than ${bytes} bytes behind other readers of the shared response of ${callId} and was disconnected.`,
    );
  }
}

/** Memory used by all shared responses. */
@Injectable()
export class SharedMemory {
  private readonly limit: number;
  private taken = 0;

  constructor({ sharedMemoryBytes }: Config) {
    this.limit = sharedMemoryBytes;
  }

  /** Buffered bytes. */
  get takenBytes(): number {
    return this.taken;
  }

  /** The limit is exceeded. */
  get isShort(): boolean {
    return this.taken > this.limit;
  }

  /** Always succeeds: holders reduce their buffers when memory is short. */
  take(bytes: number): void {
    this.taken += bytes;
  }

  giveBack(bytes: number): void {
    this.taken -= bytes;
  }
}
