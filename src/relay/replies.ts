import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Observable, Subscription } from 'rxjs';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Caller } from '../keys/index.js';
import { AppError } from '../platform/shared/index.js';
import type { Call, Frame, ProtocolAdapter } from '../protocols/contract/index.js';
import { CallContext, type ReplyFacts } from './call-context.js';
import { RelayMetrics } from './relay-metrics.js';
import { RelayTimings } from './relay-timings.js';
import { RunState } from './run-state.js';
import { SharedMemory, SharedResponse } from './shared-response.js';

/** Sends answers to clients, each by a writer of its own. */
@Injectable()
export class Replies {
  constructor(
    private readonly timings: RelayTimings,
    private readonly state: RunState,
    private readonly memory: SharedMemory,
    private readonly metrics: RelayMetrics,
  ) {}

  /** The answer to a call that has just come, of which nothing is known yet. To be closed, however the call ends. */
  open(callId: string, caller: Caller, startedMs: number): CallContext {
    const answer = new CallContext(this.state.begin(callId, caller), startedMs);
    answer.onBegun = (relayMs) => this.metrics.begun(relayMs);
    return answer;
  }

  close(callId: string): void {
    this.state.end(callId);
  }

  /** The same for the clients of one call that may be several. */
  share(callId: string, answer: CallContext, frames: Observable<Frame>): SharedResponse {
    return new SharedResponse(callId, answer, frames, this.memory);
  }

  /**
   * Resolves when the answer has been handed to the socket or the client has left.
   * @throws AppError when it failed before anything was written
   */
  send(
    reply: FastifyReply,
    call: Call,
    protocol: ProtocolAdapter,
    answer: ReplyFacts,
    frames: Observable<Frame>,
  ): Promise<void> {
    return new ReplyWriter(reply, call, protocol, answer, this.timings).send(frames);
  }
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/**
 * Writes one answer to its client: the only subscriber of its frames. The head goes out with the first byte, so that
 * whatever fails before it is still an HTTP error. When the client leaves, it unsubscribes, which aborts everything.
 */
class ReplyWriter {
  private readonly raw: ServerResponse;
  private subscription: Subscription | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  /** Something of the answer itself has been written. */
  private begun = false;

  constructor(
    private readonly reply: FastifyReply,
    private readonly call: Call,
    private readonly protocol: ProtocolAdapter,
    private readonly answer: ReplyFacts,
    private readonly timings: RelayTimings,
  ) {
    this.raw = reply.raw;
  }

  /**
   * Resolves when the answer has been handed to the socket or the client has left.
   * @throws AppError when it failed before anything was written: the error filter words it
   */
  send(frames: Observable<Frame>): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (error?: unknown): void => {
        clearTimeout(this.idleTimer);
        this.raw.off('close', leave).off('drain', this.onDrain);
        if (error === undefined) resolve();
        else reject(error);
      };
      // The reply's close, not the request's: that one ends with its body.
      const leave = (): void => {
        this.subscription?.unsubscribe();
        this.reply.hijack();
        finish();
      };
      this.raw.on('close', leave).on('drain', this.onDrain);
      if (this.call.head.stream) this.idleTimer = setTimeout(() => this.keepAlive(), this.timings.keepAliveMs);
      // What goes wrong in here the library would throw at nobody, and the client would wait.
      const breakOff = (fault: unknown): void => {
        this.raw.destroy();
        finish(fault);
      };
      this.subscription = frames.subscribe({
        next: (frame) => {
          try {
            this.write(frame);
          } catch (fault) {
            breakOff(fault);
          }
        },
        error: (thrown: unknown) => {
          try {
            finish(this.fail(AppError.from(thrown)) ? undefined : thrown);
          } catch (fault) {
            breakOff(fault);
          }
        },
        complete: () => finish(),
      });
      if (this.raw.destroyed) leave();
    });
  }

  private write(frame: Frame): void {
    if (frame.last) return this.end(frame.bytes);
    if (frame.bytes.length === 0) return;
    this.head();
    this.begun = true;
    if (!this.raw.write(frame.bytes)) this.hold();
    this.idleTimer?.refresh();
  }

  private end(bytes: Uint8Array): void {
    clearTimeout(this.idleTimer);
    this.head(this.call.head.stream ? {} : { 'content-length': bytes.length });
    this.close(bytes);
  }

  /** What the client has not taken yet is not kept for ever. The server puts its own limit in place of ours later. */
  private close(bytes: Uint8Array): void {
    this.raw.setTimeout(this.timings.stalledClientMs);
    this.raw.end(bytes);
  }

  /** @returns false when nothing has been written, so that the failure can still be an HTTP error */
  private fail(error: AppError): boolean {
    if (!this.raw.headersSent) return false;
    if (this.raw.writableEnded) return true;
    // An answer cut short must not look complete: a stream says so, anything else breaks off.
    // What waited as prelude was never told: the failure is then the first that the client hears.
    const told = this.begun ? this.answer : undefined;
    const words = (): Uint8Array => this.protocol.renderStreamError(this.call, error, told?.tail ?? {});
    if (this.call.head.stream) this.close(told?.failure(error) ?? words());
    else this.raw.destroy();
    return true;
  }

  private head(headers: OutgoingHttpHeaders = {}): void {
    if (this.raw.headersSent) return;
    this.reply.hijack();
    this.raw.socket?.setNoDelay(true);
    const serverTiming = this.answer.begun();
    this.raw.writeHead(200, {
      ...(this.reply.getHeaders() as OutgoingHttpHeaders),
      ...(this.call.head.stream ? STREAM_HEADERS : { 'content-type': 'application/json; charset=utf-8' }),
      ...this.answer.headers,
      ...(serverTiming !== undefined && { 'server-timing': serverTiming }),
      ...headers,
    });
  }

  private keepAlive(): void {
    if (!this.answer.flow.full) {
      this.head();
      if (!this.raw.write(this.protocol.keepAlive(this.begun))) this.hold();
    }
    this.idleTimer?.refresh();
  }

  /**
   * The client's socket is full: read no more from the upstream until it has drained. The socket's own time limit looks
   * at the bytes that it gets rid of, so that a client that is only slow may take its time even with one large event.
   */
  private hold(): void {
    this.answer.flow.hold('client');
    this.raw.setTimeout(this.timings.stalledClientMs);
  }

  private readonly onDrain = (): void => {
    this.raw.setTimeout(0);
    this.answer.flow.release('client');
  };
}
