import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Observable, Subscription } from 'rxjs';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Caller } from '../keys/index.js';
import { Config } from '../platform/config/index.js';
import { Metrics } from '../platform/metrics/index.js';
import { AppError } from '../platform/shared/index.js';
import type { Call, Frame, ProtocolAdapter, ProtocolId } from '../protocols/contract/index.js';
import { BodyBudget } from './body-budget.js';
import { failureBytes, type OutgoingReply, type ReplyFacts, ReplyState } from './call-context.js';
import { RelayTimings } from './relay-timings.js';
import { RunState } from './run-state.js';
import { SharedMemory, SharedResponse } from './shared-response.js';

/** In seconds. Above the first few the relay is busy, or a large body was read. */
const ADDED_LATENCIES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Max unknown members counted by name, per protocol, since clients can invent names. */
const MAX_COUNTED_MEMBERS = 100;
const OTHER_MEMBERS = 'other';

/** Metrics of calls in progress. */
@Injectable()
export class RelayMetrics {
  private readonly addedLatency;
  private readonly unknownMembers;
  private readonly countedMembers = new Map<ProtocolId, Set<string>>();

  constructor(
    metrics: Metrics,
    state: RunState,
    bodies: BodyBudget,
    shared: SharedMemory,
    { bodyMemoryBytes }: Config,
  ) {
    this.addedLatency = metrics.histogram(
      'added_latency_seconds',
      'Time until the first byte of a response, except admission and the last upstream attempt.',
      ADDED_LATENCIES,
    );
    this.unknownMembers = metrics.counter(
      'unknown_members_total',
      'Request members and beta features unknown to the protocol, by name.',
      ['protocol', 'member'],
    );
    const gauge = (name: string, help: string, value: () => number): void =>
      void metrics.gauge(name, help, [], (measured) => measured.set(value()));
    gauge('calls_in_flight', 'Calls in progress.', () => state.runningCalls);
    gauge('requests_in_flight', 'Requests in progress, of any kind.', () => state.running);
    gauge('body_memory_bytes', 'Request buffer memory in use.', () => bodies.takenBytes);
    gauge('body_memory_limit_bytes', 'Request buffer memory limit (BODY_MEMORY_BYTES).', () => bodyMemoryBytes);
    gauge('shared_answers_bytes', 'Memory used by responses shared through Idempotency-Key.', () => shared.takenBytes);
  }

  /** Counts request members missing in the protocol's table. */
  countUnknown(protocol: ProtocolId, members: readonly string[]): void {
    const counted = this.countedMembers.get(protocol) ?? new Set();
    this.countedMembers.set(protocol, counted);
    for (const name of members) {
      if (counted.size < MAX_COUNTED_MEMBERS) counted.add(name);
      this.unknownMembers.inc({ protocol, member: counted.has(name) ? name : OTHER_MEMBERS });
    }
  }

  /** Records the relay's latency when the first byte is sent. */
  addLatency(relayMs: number): void {
    this.addedLatency.observe(relayMs / 1000);
  }
}

/** Sends responses to clients. */
@Injectable()
export class Replies {
  constructor(
    private readonly timings: RelayTimings,
    private readonly state: RunState,
    private readonly memory: SharedMemory,
    private readonly metrics: RelayMetrics,
  ) {}

  /** The context of a new call. Close it in any case. */
  open(callId: string, caller: Caller, startedMs: number): ReplyState {
    const response = new ReplyState(this.state.begin(callId, caller), startedMs);
    response.onHeadSent = (relayMs) => this.metrics.addLatency(relayMs);
    return response;
  }

  close(callId: string): void {
    this.state.end(callId);
  }

  /** A response that several clients may share. */
  share(callId: string, response: ReplyState, frames: Observable<Frame>): SharedResponse {
    return new SharedResponse(callId, response, frames, this.memory);
  }

  /**
   * Resolves when the response has been handed to the socket or the client has left.
   * @throws AppError when it failed before anything was written
   */
  send(reply: FastifyReply, outgoing: OutgoingReply): Promise<void> {
    return new ReplyWriter(reply, outgoing, this.timings).send(outgoing.frames);
  }
}

export const EVENT_STREAM = 'text/event-stream; charset=utf-8';
export const STREAM_HEADERS = {
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/**
 * Writes one response over HTTP: the only subscriber of its frames. The head is sent with the first byte, so that earlier
 * failures are still HTTP errors. When the client leaves, it unsubscribes, which aborts everything.
 */
class ReplyWriter {
  private readonly raw: ServerResponse;
  private subscription: Subscription | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  /** Part of the response itself was written. */
  private begun = false;

  private readonly call: Call;
  private readonly responseAdapter: ProtocolAdapter;
  private readonly response: ReplyFacts;

  constructor(
    private readonly reply: FastifyReply,
    private readonly outgoing: Omit<OutgoingReply, 'frames'>,
    private readonly timings: RelayTimings,
  ) {
    this.raw = reply.raw;
    this.call = outgoing.call;
    this.responseAdapter = outgoing.responseAdapter;
    this.response = outgoing.facts;
  }

  /**
   * Resolves when the response has been handed to the socket or the client has left.
   * @throws AppError when it failed before anything was written; the error filter renders it
   */
  send(frames: Observable<Frame>): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (error?: unknown): void => {
        clearTimeout(this.idleTimer);
        this.raw.off('close', leave).off('drain', this.onDrain);
        if (error === undefined) resolve();
        else reject(error);
      };
      // The reply's close event: the request's comes with the end of its body.
      const leave = (): void => {
        this.subscription?.unsubscribe();
        this.reply.hijack();
        finish();
      };
      this.raw.on('close', leave).on('drain', this.onDrain);
      if (this.call.head.stream) this.idleTimer = setTimeout(() => this.keepAlive(), this.timings.keepAliveMs);
      // Errors in here would be lost in RxJS, and the client would wait.
      const breakOff = (error: unknown): void => {
        this.raw.destroy();
        finish(error);
      };
      this.subscription = frames.subscribe({
        next: (frame) => {
          try {
            this.write(frame);
          } catch (error) {
            breakOff(error);
          }
        },
        error: (thrown: unknown) => {
          try {
            finish(this.fail(AppError.from(thrown)) ? undefined : thrown);
          } catch (error) {
            breakOff(error);
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

  /** Bounds how long unsent data is kept. The server sets its own timeout afterwards. */
  private close(bytes: Uint8Array): void {
    this.raw.setTimeout(this.timings.stalledClientMs);
    this.raw.end(bytes);
  }

  /** @returns false if nothing was written, so that the failure can still be an HTTP error */
  private fail(error: AppError): boolean {
    if (!this.raw.headersSent) return false;
    if (this.raw.writableEnded) return true;
    // A truncated response must not look complete: a stream ends with an error, anything else breaks off.
    if (this.call.head.stream) this.close(failureBytes(this.outgoing, error, this.begun));
    else this.raw.destroy();
    return true;
  }

  private head(headers: OutgoingHttpHeaders = {}): void {
    if (this.raw.headersSent) return;
    this.reply.hijack();
    this.raw.socket?.setNoDelay(true);
    const serverTiming = this.response.serverTiming();
    this.raw.writeHead(200, {
      ...(this.reply.getHeaders() as OutgoingHttpHeaders),
      ...this.formHeaders,
      ...this.response.headers,
      ...(serverTiming !== undefined && { 'server-timing': serverTiming }),
      ...headers,
    });
  }

  private get formHeaders(): OutgoingHttpHeaders {
    const { head, request } = this.call;
    if (!head.stream) return { 'content-type': 'application/json; charset=utf-8' };
    return { 'content-type': this.responseAdapter.streamType?.(request) ?? EVENT_STREAM, ...STREAM_HEADERS };
  }

  private keepAlive(): void {
    if (!this.response.flow.full) {
      this.head();
      if (!this.raw.write(this.responseAdapter.keepAlive(this.begun, this.call.request))) this.hold();
    }
    this.idleTimer?.refresh();
  }

  /**
   * The client's socket is full: stop reading from the upstream until it drains. The socket's timeout counts bytes, so
   * that slow clients may take their time even with one large event.
   */
  private hold(): void {
    this.response.flow.hold('client');
    this.raw.setTimeout(this.timings.stalledClientMs);
  }

  private readonly onDrain = (): void => {
    this.raw.setTimeout(0);
    this.response.flow.release('client');
  };
}
