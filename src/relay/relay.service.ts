import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, defer } from 'rxjs';
import { accounted, type Admission, BillingService } from './billing/index.js';
import type { Call, Frame, ProtocolAdapter } from '../protocols/contract/index.js';
import type { Caller } from '../keys/index.js';
import { AppError } from '../platform/shared/index.js';
import { Admissions } from './admissions.js';
import type { CallContext } from './call-context.js';
import { Attempts } from './attempts.js';
import { Bodies } from './bodies.js';
import type { ProtocolChoice } from './protocol-choices.js';
import type { HeldBody } from './held-body.js';
import { fingerprintOf, idempotencyKeyOf } from './idempotency-key.js';
import { Replies } from './replies.js';
import { arrivalOf, callerOf, requestLineOf } from './request-facts.js';
import type { SharedResponse } from './shared-response.js';
import { SharedResponses } from './shared-responses.js';
import { unlessInterrupted } from './unless-interrupted.js';

interface ReadCall {
  /** Its dialect is the one that it was asked in. */
  readonly call: Call;
  readonly asked: ProtocolAdapter;
  /** The dialect that it is answered in. */
  readonly answers: ProtocolAdapter;
  readonly body: HeldBody;
  /** When the client has named its request. */
  readonly share: Share | undefined;
}

interface Share {
  readonly answer: SharedResponse;
  /** The answer is that of another call. */
  readonly isGuest: boolean;
}

/** The path of a call, from its bytes to the last byte of its answer. */
@Injectable()
export class RelayService {
  private readonly shared = new SharedResponses();

  constructor(
    private readonly bodies: Bodies,
    private readonly billing: BillingService,
    private readonly admissions: Admissions,
    private readonly attempts: Attempts,
    private readonly replies: Replies,
  ) {}

  /**
   * Answers one request.
   * @throws AppError when the call failed before anything was written; its row is written by then
   */
  async answer(choice: ProtocolChoice, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = callerOf(request);
    const arrival = arrivalOf(request);
    const answer = this.replies.open(request.id, caller, arrival.startedMs);
    let read: ReadCall | undefined;
    try {
      const { call, asked, answers, body, share } = (read = await this.readOrRefuse(choice, request, caller, answer));
      answer.onBodySpent = () => body.shrink(call.head.size);
      if (share !== undefined) return await this.sendShared(read, share, caller, answer, reply);
      await this.replies.send(reply, call, answers, answer, this.run({ call, asked, answers }, caller, answer));
    } finally {
      read?.body.drop();
      this.replies.close(request.id);
    }
  }

  /**
   * Cold: nothing happens before it is subscribed to; unsubscribing ends the call as cancelled.
   * @param name that the client has given to the call: no other process runs one of it then
   */
  run(
    { call, asked, answers: protocol }: Pick<ReadCall, 'call' | 'asked' | 'answers'>,
    caller: Caller,
    answer: CallContext,
    name?: string,
  ): Observable<Frame> {
    return defer(() => {
      const ticket = this.billing.open(call, caller, answer, asked.textPlaces);
      const answered = (admission: Admission): Observable<Frame> => {
        const { outputLimit } = admission;
        answer.timing.admitMs = ticket.admitMs;
        if (outputLimit !== undefined) answer.headers['x-relay-output-limit'] = String(outputLimit);
        // A hold that was being placed is waited for; then the call goes no further.
        if (answer.interruption.error !== undefined) throw answer.interruption.error;
        return this.attempts.frames({ ticket, admission, answer, protocol });
      };
      return this.admissions.during({ ticket, answer, protocol, name }, answered).pipe(accounted(ticket, answer));
    });
  }

  private async readOrRefuse(
    choice: ProtocolChoice,
    request: FastifyRequest,
    caller: Caller,
    answer: CallContext,
  ): Promise<ReadCall> {
    try {
      const { interruption } = answer;
      const call = await unlessInterrupted(this.read(choice, request, caller), interruption, ({ body }) => body.drop());
      return { ...call, share: await this.shareOf(call, caller, answer) };
    } catch (thrown) {
      const error = AppError.from(thrown);
      const refused = { id: request.id, protocol: choice.addressed, caller, ...arrivalOf(request) };
      await this.billing.refuse(refused, error);
      throw error;
    }
  }

  private async read(
    choice: ProtocolChoice,
    request: FastifyRequest,
    { accountId }: Caller,
  ): Promise<Omit<ReadCall, 'share'>> {
    const body = await this.bodies.read(request.raw, choice, accountId);
    try {
      const { asked, answers, head } = await choice.end(body);
      const { createdAt, ip, trace } = arrivalOf(request);
      const line = requestLineOf(request);
      const call = { id: request.id, createdAt, protocol: asked.id, request: line, ip, head, body, trace };
      return { call, asked, answers, body };
    } catch (error) {
      body.drop();
      throw error;
    }
  }

  /**
   * The answer of the call that this request repeats, or what makes its own one known to those that repeat it.
   * @throws AppError when the client has used the name for something else
   */
  private async shareOf(
    { call, asked, answers, body }: Omit<ReadCall, 'share'>,
    caller: Caller,
    answer: CallContext,
  ): Promise<Share | undefined> {
    try {
      const key = idempotencyKeyOf(call.request);
      if (key === undefined) return undefined;
      const fingerprint = await fingerprintOf(call.request, asked.forwardedHeaders, body.bytes);
      const name = `${caller.keyId} ${key}`;
      if (this.shared.find(name, fingerprint) !== undefined) await this.admissions.countRepetition(call, caller);
      // Nothing is waited for from here on: of two requests that come at once, the other finds this one.
      const other = this.shared.find(name, fingerprint);
      if (other !== undefined) return { answer: other, isGuest: true };
      const own = this.replies.share(call.id, answer, this.run({ call, asked, answers }, caller, answer, name));
      this.shared.add(name, fingerprint, own);
      return { answer: own, isGuest: false };
    } catch (error) {
      body.drop();
      throw error;
    }
  }

  private async sendShared(
    { call, answers, body }: ReadCall,
    share: Share,
    caller: Caller,
    answer: CallContext,
    reply: FastifyReply,
  ): Promise<void> {
    const { facts, frames } = share.answer.reply(share.isGuest ? answer.waits : undefined);
    if (!share.isGuest) {
      await this.replies.send(reply, call, answers, facts, frames);
      // This client may have left the others with its call, whose body and end are still looked after from here.
      return share.answer.over;
    }
    body.drop();
    const { callId } = share.answer;
    void reply.header('x-relay-shared-with', callId);
    const ticket = this.billing.openShared(call, caller, answer, callId);
    await this.replies.send(reply, call, answers, facts, frames.pipe(accounted(ticket, answer)));
  }
}
