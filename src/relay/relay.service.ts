import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, defer, from, switchMap } from 'rxjs';
import { accounted, BillingService } from '../billing/index.js';
import type { Call, Frame, Interruption, ProtocolAdapter } from '../call/index.js';
import { Config } from '../config/index.js';
import type { Caller } from '../keys/index.js';
import { AppError } from '../shared/index.js';
import type { Answer } from './answer.js';
import { Attempts } from './attempts.js';
import { readBody } from './body-reader.js';
import { ModelAccess } from './model-access.js';
import { Replies } from './replies.js';
import { arrivalOf, callerOf, requestLineOf } from './request-facts.js';

/** The path of a call, from its bytes to the last byte of its answer. */
@Injectable()
export class RelayService {
  constructor(
    private readonly config: Config,
    private readonly billing: BillingService,
    private readonly models: ModelAccess,
    private readonly attempts: Attempts,
    private readonly replies: Replies,
  ) {}

  /**
   * Answers one request of a dialect. `choose` may look at the body to tell the dialect.
   * @throws AppError when the call failed before anything was written; its row is written by then
   */
  async answer(
    choose: ProtocolAdapter | ((body: Uint8Array) => ProtocolAdapter),
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const caller = callerOf(request);
    const arrival = arrivalOf(request);
    const answer = this.replies.open(request.id, arrival.startedMs);
    try {
      const { call, protocol } = await this.readOrRefuse(choose, request, caller, answer.interruption);
      const frames = this.run(call, caller, answer, arrival.startedMs);
      await this.replies.send(reply, call, protocol, answer, frames);
    } finally {
      this.replies.close(request.id);
    }
  }

  /** Cold: nothing happens before it is subscribed to; unsubscribing ends the call as cancelled. */
  run(call: Call, caller: Caller, answer: Answer, startedMs: number): Observable<Frame> {
    return defer(() => {
      const ticket = this.billing.open(call, caller, startedMs);
      return from(ticket.admit((current) => this.models.plan(call, current))).pipe(
        switchMap((admission) => {
          const { outputLimit } = admission;
          answer.timing.admitMs = ticket.admitMs;
          if (outputLimit !== undefined) answer.headers['x-relay-output-limit'] = String(outputLimit);
          // A hold that was being placed is waited for; then the call goes no further.
          if (answer.interruption.error !== undefined) throw answer.interruption.error;
          return this.attempts.frames(ticket, admission, answer);
        }),
        accounted(ticket, answer.interruption),
      );
    });
  }

  private async readOrRefuse(
    choose: ProtocolAdapter | ((body: Uint8Array) => ProtocolAdapter),
    request: FastifyRequest,
    caller: Caller,
    interruption: Interruption,
  ): Promise<{ call: Call; protocol: ProtocolAdapter }> {
    try {
      return await unlessInterrupted(this.read(choose, request), interruption);
    } catch (thrown) {
      const error = AppError.from(thrown);
      const protocol = typeof choose === 'function' ? '' : choose.id;
      await this.billing.refuse({ id: request.id, protocol, caller, ...arrivalOf(request) }, error);
      throw error;
    }
  }

  private async read(
    choose: ProtocolAdapter | ((body: Uint8Array) => ProtocolAdapter),
    request: FastifyRequest,
  ): Promise<{ call: Call; protocol: ProtocolAdapter }> {
    const line = requestLineOf(request);
    const body = await readBody(request.raw, this.config.maxBodyBytes);
    const protocol = typeof choose === 'function' ? choose(body) : choose;
    const head = protocol.readHead(line, body);
    const { createdAt, ip } = arrivalOf(request);
    const call: Call = { id: request.id, createdAt, protocol: protocol.id, request: line, ip, head, body };
    return { call, protocol };
  }
}

/** What the promise resolves with. @throws as the interruption says when that comes first */
function unlessInterrupted<T>(promise: Promise<T>, interruption: Interruption): Promise<T> {
  return new Promise((resolve, reject) => {
    const detach = interruption.listen(reject);
    promise.then(resolve, reject).finally(detach);
  });
}
