import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, defer, from, switchMap } from 'rxjs';
import { accounted, BillingService } from '../billing/index.js';
import type { Call, CallBody, Frame, Interruption, ProtocolAdapter } from '../call/index.js';
import type { Caller } from '../keys/index.js';
import { AppError } from '../shared/index.js';
import type { Answer } from './answer.js';
import { Attempts } from './attempts.js';
import { Bodies } from './bodies.js';
import type { BodyWatcher } from './body-reader.js';
import type { HeldBody } from './held-body.js';
import { ModelAccess } from './model-access.js';
import { Replies } from './replies.js';
import { arrivalOf, callerOf, requestLineOf } from './request-facts.js';

/** Tells a request's dialect by its body, where the address does not. */
export interface DialectChoice extends BodyWatcher {
  end(body: CallBody): ProtocolAdapter;
}

interface ReadCall {
  readonly call: Call;
  readonly protocol: ProtocolAdapter;
  readonly body: HeldBody;
}

/** The path of a call, from its bytes to the last byte of its answer. */
@Injectable()
export class RelayService {
  constructor(
    private readonly bodies: Bodies,
    private readonly billing: BillingService,
    private readonly models: ModelAccess,
    private readonly attempts: Attempts,
    private readonly replies: Replies,
  ) {}

  /**
   * Answers one request of a dialect.
   * @throws AppError when the call failed before anything was written; its row is written by then
   */
  async answer(dialect: ProtocolAdapter | DialectChoice, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = callerOf(request);
    const arrival = arrivalOf(request);
    const answer = this.replies.open(request.id, arrival.startedMs);
    let body: HeldBody | undefined;
    try {
      const read = await this.readOrRefuse(dialect, request, caller, answer.interruption);
      ({ body } = read);
      answer.onBodySpent = () => read.body.drop();
      const frames = this.run(read.call, caller, answer, arrival.startedMs);
      await this.replies.send(reply, read.call, read.protocol, answer, frames);
    } finally {
      body?.drop();
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
        accounted(ticket, answer),
      );
    });
  }

  private async readOrRefuse(
    dialect: ProtocolAdapter | DialectChoice,
    request: FastifyRequest,
    caller: Caller,
    interruption: Interruption,
  ): Promise<ReadCall> {
    try {
      return await unlessInterrupted(this.read(dialect, request), interruption, ({ body }) => body.drop());
    } catch (thrown) {
      const error = AppError.from(thrown);
      const protocol = 'id' in dialect ? dialect.id : '';
      await this.billing.refuse({ id: request.id, protocol, caller, ...arrivalOf(request) }, error);
      throw error;
    }
  }

  private async read(dialect: ProtocolAdapter | DialectChoice, request: FastifyRequest): Promise<ReadCall> {
    const line = requestLineOf(request);
    const chosen = 'id' in dialect ? { protocol: dialect, reader: dialect.headReader(line) } : undefined;
    const body = await this.bodies.read(request.raw, chosen?.reader ?? (dialect as DialectChoice));
    try {
      const protocol = chosen?.protocol ?? (dialect as DialectChoice).end(body);
      const head = chosen?.reader.end(body) ?? (await this.bodies.readHead(protocol.headReader(line), body));
      const { createdAt, ip } = arrivalOf(request);
      return {
        call: { id: request.id, createdAt, protocol: protocol.id, request: line, ip, head, body },
        protocol,
        body,
      };
    } catch (error) {
      body.drop();
      throw error;
    }
  }
}

/**
 * What the promise resolves with; `discard` gets it when it comes too late.
 * @throws as the interruption says when that comes first
 */
function unlessInterrupted<T>(promise: Promise<T>, interruption: Interruption, discard: (late: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let interrupted = false;
    const detach = interruption.listen((error) => {
      interrupted = true;
      reject(error);
      return true;
    });
    promise.then((value) => (interrupted ? discard(value) : resolve(value)), reject).finally(detach);
  });
}
