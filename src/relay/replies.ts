import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Observable } from 'rxjs';
import type { Call, Frame, ProtocolAdapter } from '../call/index.js';
import type { Answer } from './answer.js';
import { RelayTimings } from './relay-timings.js';
import { ReplyWriter } from './reply-writer.js';
import { RunState } from './run-state.js';

/** Sends answers to clients, each by a writer of its own, and knows which are still on their way. */
@Injectable()
export class Replies {
  constructor(
    private readonly timings: RelayTimings,
    private readonly state: RunState,
  ) {}

  /**
   * Resolves when the answer has been handed to the socket or the client has left.
   * @throws AppError when it failed before anything was written
   */
  send(
    reply: FastifyReply,
    call: Call,
    protocol: ProtocolAdapter,
    answer: Answer,
    frames: Observable<Frame>,
  ): Promise<void> {
    return this.state.track(new ReplyWriter(reply, call, protocol, answer, this.timings).send(frames));
  }
}
