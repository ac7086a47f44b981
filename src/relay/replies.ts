import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Observable } from 'rxjs';
import type { Call, Frame, ProtocolAdapter } from '../protocols/contract/index.js';
import type { Caller } from '../keys/index.js';
import { CallContext, type ReplyFacts } from './call-context.js';
import { RelayMetrics } from './relay-metrics.js';
import { RelayTimings } from './relay-timings.js';
import { ReplyWriter } from './reply-writer.js';
import { RunState } from './run-state.js';
import { SharedResponse } from './shared-response.js';
import { SharedMemory } from './shared-memory.js';

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
