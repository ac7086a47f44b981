import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, catchError, defer, finalize, from, switchMap, tap, throwError } from 'rxjs';
import { BillingService } from '../billing/index.js';
import type { Call, Frame, ProtocolAdapter } from '../call/index.js';
import { Config } from '../config/index.js';
import type { Caller } from '../keys/index.js';
import { AppError, monotonicMs } from '../shared/index.js';
import type { Answer } from './answer.js';
import { Attempts } from './attempts.js';
import { readBody } from './body-reader.js';
import { interruptedBy, unlessInterrupted } from './interruption.js';
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
    const answer = this.replies.open(request.id);
    const read = await unlessInterrupted(this.read(choose, request), answer.interruption).catch(
      async (thrown: unknown) => {
        const error = AppError.from(thrown);
        const protocol = typeof choose === 'function' ? '' : choose.id;
        await this.billing.refuse({ id: request.id, protocol, caller, ...arrival }, error);
        throw error;
      },
    );
    const frames = this.run(read.call, caller, answer, arrival.startedMs);
    await this.replies.send(reply, read.call, read.protocol, answer, frames);
  }

  /** Cold: nothing happens before it is subscribed to; unsubscribing ends the call as cancelled. */
  run(call: Call, caller: Caller, answer: Answer, startedMs: number): Observable<Frame> {
    return defer(() => {
      const ticket = this.billing.open(call, caller, startedMs);
      return from(ticket.admit((current) => this.models.plan(call, current))).pipe(
        tap(({ outputLimit }) => {
          answer.timing.admitMs = ticket.admitMs;
          if (outputLimit !== undefined) answer.headers['x-relay-output-limit'] = String(outputLimit);
        }),
        switchMap((admission) =>
          this.attempts.frames(ticket, admission, answer).pipe(interruptedBy(answer.interruption)),
        ),
        ticket.watch(),
        ticket.settleBeforeEnd(answer.interruption),
        tap(() => (answer.headers['server-timing'] ??= serverTiming(answer, startedMs))),
        catchError((thrown: unknown) => {
          const error = AppError.from(thrown);
          return from(ticket.fail(error)).pipe(switchMap(() => throwError(() => error)));
        }),
        finalize(() => ticket.abandon()),
      );
    });
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

/** Where the time until the first byte went: admission, the upstream, and the relay itself, in milliseconds. */
function serverTiming({ timing: { admitMs = 0, upstreamMs = 0 } }: Answer, startedMs: number): string {
  const relayMs = Math.max(0, monotonicMs() - startedMs - admitMs - upstreamMs);
  return `admit;dur=${admitMs.toFixed(1)}, upstream;dur=${upstreamMs.toFixed(1)}, relay;dur=${relayMs.toFixed(1)}`;
}
