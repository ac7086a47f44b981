import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { defer, fromEvent, lastValueFrom, type Observable, takeUntil, toArray } from 'rxjs';
import { createHash, webcrypto } from 'node:crypto';
import type { Caller } from '../keys/index.js';
import { AppError } from '../platform/shared/index.js';
import {
  type Call,
  type Frame,
  headerOf,
  type Interruption,
  type ProtocolAdapter,
  type RequestLine,
} from '../protocols/contract/index.js';
import { AdmissionControl } from './admission-control.js';
import { accounted, type Admission, BillingService } from './billing/index.js';
import { BackgroundRuns } from './background-run.js';
import { Bodies, type HeldBody } from './bodies.js';
import type { IncomingCall, OutgoingReply, ReplyState } from './call-context.js';
import { Attempts } from './failover.js';
import type { RequestReader } from './protocol-detection.js';
import { Replies } from './replies.js';
import { type SharedResponse, SharedResponseRegistry } from './shared-response.js';
import type { CallSockets } from './upstream/upstream-sockets.js';

interface ReceivedCall {
  /** In the protocol of the request. */
  readonly call: Call;
  readonly requestAdapter: ProtocolAdapter;
  /** Of the protocol of the response. */
  readonly responseAdapter: ProtocolAdapter;
  readonly body: HeldBody;
  readonly sockets: CallSockets | undefined;
  /** Set if the client sent an idempotency key. */
  readonly share: Share | undefined;
}

interface Share {
  readonly response: SharedResponse;
  /** The response is that of another call. */
  readonly isGuest: boolean;
}

/** The path of a call, from its bytes to the last byte of its response. */
@Injectable()
export class RelayService {
  private readonly shared = new SharedResponseRegistry();

  constructor(
    private readonly bodies: Bodies,
    private readonly billing: BillingService,
    private readonly admissionControl: AdmissionControl,
    private readonly attempts: Attempts,
    private readonly replies: Replies,
    private readonly background: BackgroundRuns,
  ) {}

  /**
   * Serves one request.
   * @throws AppError when the call failed before anything was written; its row is stored by then
   */
  serve(requestReader: RequestReader, incoming: IncomingCall, reply: FastifyReply): Promise<void> {
    const { caller } = incoming;
    return this.received(
      requestReader,
      incoming,
      (received, response) => {
        const { call, responseAdapter, share } = received;
        if (call.head.background === true) {
          const shared = this.replies.share(call.id, response, this.run(received, caller, response));
          return this.background.serve({ call, caller, responseAdapter, shared }, reply);
        }
        if (share !== undefined) return this.sendShared(received, share, caller, response, reply);
        const frames = this.run(received, caller, response);
        return this.replies.send(reply, { call, responseAdapter, facts: response, frames });
      },
      true,
    );
  }

  /**
   * Receives a request whose response is not shared and goes elsewhere than to an HTTP client: over a WebSocket, or
   * onto a page.
   * @param deliver subscribes to the frames
   * @throws AppError when the request is rejected, and what `deliver` throws
   */
  receive<Result>(
    requestReader: RequestReader,
    incoming: IncomingCall,
    deliver: (reply: OutgoingReply) => Promise<Result>,
  ): Promise<Result> {
    return this.received(requestReader, incoming, (received, response) => {
      const { call, responseAdapter } = received;
      return deliver({ call, responseAdapter, facts: response, frames: this.run(received, incoming.caller, response) });
    });
  }

  /**
   * The complete response to a request, for a page that shows it. Ends the call when the page's client leaves.
   * @throws AppError when the call failed; its row is stored by then
   */
  collect(requestReader: RequestReader, incoming: IncomingCall, reply: FastifyReply): Promise<Buffer> {
    return this.receive(requestReader, incoming, async ({ frames }) => {
      const left = fromEvent(reply.raw, 'close');
      return Buffer.concat((await lastValueFrom(frames.pipe(takeUntil(left), toArray()))).map(({ bytes }) => bytes));
    });
  }

  /** Reads a request, and keeps its call registered and its body in memory until the response is done. */
  private async received<Result>(
    requestReader: RequestReader,
    incoming: IncomingCall,
    respond: (received: ReceivedCall, response: ReplyState) => Promise<Result>,
    mayDetach = false,
  ): Promise<Result> {
    const { id, caller, arrival } = incoming;
    const response = this.replies.open(id, caller, arrival.startedMs);
    let received: ReceivedCall | undefined;
    try {
      received = await this.readOrRefuse(requestReader, incoming, response, mayDetach);
      const { call, body } = received;
      response.onBodySpent = () => body.shrink(call.head.size);
      return await respond(received, response);
    } finally {
      received?.body.drop();
      this.replies.close(id);
    }
  }

  /**
   * Cold. Unsubscribing ends the call as cancelled.
   * @param idempotencyKey no other process runs a call with it at the same time
   */
  run(
    { call, requestAdapter, responseAdapter, sockets }: Omit<ReceivedCall, 'body' | 'share'>,
    caller: Caller,
    response: ReplyState,
    idempotencyKey?: string,
  ): Observable<Frame> {
    return defer(() => {
      const ticket = this.billing.open(call, caller, response, requestAdapter.textPlaces);
      const whenAdmitted = (admission: Admission): Observable<Frame> => {
        const { outputLimit } = admission;
        response.timing.admitMs = ticket.admitMs;
        if (outputLimit !== undefined) response.headers['x-relay-output-limit'] = String(outputLimit);
        // A hold in progress was awaited; now the call ends.
        if (response.interruption.error !== undefined) throw response.interruption.error;
        return this.attempts.frames({ ticket, admission, response, responseAdapter, sockets });
      };
      return this.admissionControl
        .admit({ ticket, response, responseAdapter, idempotencyKey }, whenAdmitted)
        .pipe(accounted(ticket, response));
    });
  }

  private async readOrRefuse(
    requestReader: RequestReader,
    incoming: IncomingCall,
    response: ReplyState,
    mayDetach: boolean,
  ): Promise<ReceivedCall> {
    const { id, caller, arrival } = incoming;
    try {
      const { interruption } = response;
      const call = await unlessInterrupted(this.read(requestReader, incoming), interruption, ({ body }) => body.drop());
      return { ...call, share: await this.shareOf(call, caller, response, mayDetach) };
    } catch (thrown) {
      const error = AppError.from(thrown);
      const refused = { id, protocol: requestReader.addressed, caller, ...arrival };
      await this.billing.refuse(refused, error);
      throw error;
    }
  }

  private async read(
    requestReader: RequestReader,
    { id, caller, line, arrival, body: arriving, sockets }: IncomingCall,
  ): Promise<Omit<ReceivedCall, 'share'>> {
    const body = await this.bodies.read(arriving, requestReader, caller.accountId);
    try {
      const { requestAdapter, responseAdapter, head } = await requestReader.end(body);
      const { createdAt, transport, ip, trace } = arrival;
      const call = { id, createdAt, protocol: requestAdapter.id, request: line, transport, ip, head, body, trace };
      return { call, requestAdapter, responseAdapter, body, sockets };
    } catch (error) {
      body.drop();
      throw error;
    }
  }

  /**
   * Joins the running call with the same idempotency key, or registers this one.
   * @throws AppError when the key was used for another request
   */
  private async shareOf(
    received: Omit<ReceivedCall, 'share'>,
    caller: Caller,
    response: ReplyState,
    mayDetach: boolean,
  ): Promise<Share | undefined> {
    const { call, requestAdapter, body } = received;
    try {
      const key = idempotencyKeyOf(call.request);
      if (call.head.background === true) this.background.require(received, caller, mayDetach && key === undefined);
      if (key === undefined) return undefined;
      const fingerprint = await fingerprintOf(call.request, requestAdapter.fingerprintHeaders, body.bytes);
      const name = `${caller.keyId} ${key}`;
      if (this.shared.find(name, fingerprint) !== undefined) await this.admissionControl.countRepetition(call, caller);
      // No await from here on: of two concurrent requests, the second finds the first.
      const other = this.shared.find(name, fingerprint);
      if (other !== undefined) return { response: other, isGuest: true };
      const own = this.replies.share(call.id, response, this.run(received, caller, response, name));
      this.shared.add(name, fingerprint, own);
      return { response: own, isGuest: false };
    } catch (error) {
      body.drop();
      throw error;
    }
  }

  private async sendShared(
    { call, responseAdapter, body }: ReceivedCall,
    share: Share,
    caller: Caller,
    response: ReplyState,
    reply: FastifyReply,
  ): Promise<void> {
    const { facts, frames } = share.response.reply(share.isGuest ? response.waits : undefined);
    if (!share.isGuest) {
      await this.replies.send(reply, { call, responseAdapter, facts, frames });
      // This client may leave while others share its call, whose body and end are handled here.
      return share.response.over;
    }
    body.drop();
    const { callId } = share.response;
    void reply.header('x-relay-shared-with', callId);
    const ticket = this.billing.openShared(call, caller, response, callId);
    const accountedFrames = frames.pipe(accounted(ticket, response));
    await this.replies.send(reply, { call, responseAdapter, facts, frames: accountedFrames });
  }
}

const HEADER = 'idempotency-key';
const MAX_LENGTH = 255;
/** Smaller bodies are hashed here rather than in another thread. */
const SMALL_BYTES = 64 * 1024;

/** The idempotency key; undefined if absent. */
function idempotencyKeyOf(line: RequestLine): string | undefined {
  const key = headerOf(line, HEADER);
  if (key === undefined || key.length <= MAX_LENGTH) return key;
  throw new AppError('invalid_request', `The Idempotency-Key must not be longer than ${MAX_LENGTH} characters.`);
}

/** Equal for byte-identical requests. @param headers headers that affect the response */
async function fingerprintOf(line: RequestLine, headers: readonly string[], body: Buffer): Promise<string> {
  const values = headers.map((name) => headerOf(line, name));
  return `${await digestOf(body)} ${line.path}?${line.query} ${JSON.stringify(values)}`;
}

async function digestOf(body: Buffer): Promise<string> {
  if (body.length <= SMALL_BYTES) return createHash('sha256').update(body).digest('hex');
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', body)).toString('hex');
}

/**
 * The promise's value; if it resolves after the interruption, it is passed to `discard`.
 * @throws the interruption's error if that comes first
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
