import { Injectable } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, KeyAuthenticator } from '../../keys/index.js';
import { idTime, monotonicMs } from '../../platform/shared/index.js';
import type { Call, CallTrace, ProtocolAdapter, RequestLine } from '../../protocols/contract/index.js';
import { ModelAccess } from '../admission-control.js';
import { bodyOf, type IncomingCall, type OutgoingReply, type ResponseEnd, runForRequest } from '../call-context.js';
import { CallLimits } from '../call-limits.js';
import { CallGuard } from '../call.guard.js';
import { ProtocolDetection } from '../protocol-detection.js';
import { RelayService } from '../relay.service.js';
import { RunState } from '../run-state.js';
import { Tracing } from '../tracing/tracing.js';
import type { CallSockets } from '../upstream/upstream-sockets.js';

/** The handshake of a connection, on which its calls are based. */
export interface ClientHandshake {
  readonly adapter: ProtocolAdapter;
  /** Of the calls. */
  readonly line: RequestLine;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly ip: string;
  /** As of the last call. */
  caller: Caller;
}

/** One call of a connection. */
export interface SocketRequest {
  readonly id: string;
  readonly body: Buffer;
  /** Upstream sockets; absent if the request is not sent upstream. */
  readonly sockets?: CallSockets;
}

/** Requires for each call what a request of its own would require. */
@Injectable()
export class SocketAdmission {
  constructor(
    private readonly keys: KeyAuthenticator,
    private readonly guard: CallGuard,
    private readonly tracing: Tracing,
    private readonly state: RunState,
  ) {}

  /** Counts a call until its end. */
  begin(): SocketResponseEnd {
    const end = new SocketResponseEnd();
    this.state.trackEnd(end);
    return end;
  }

  /** Checks key and load again. Rejections of known keys are recorded. @throws AppError */
  async admitted(
    handshake: ClientHandshake,
    { id, body, sockets }: SocketRequest,
    end: SocketResponseEnd,
  ): Promise<IncomingCall> {
    const { line, headers, rawHeaders, ip, adapter } = handshake;
    const trace = this.trace(line, end);
    const createdAt = idTime(id) ?? Date.now();
    const arrival = { createdAt, startedMs: monotonicMs(), transport: 'websocket', ip, trace } as const;
    let caller: Caller | undefined;
    try {
      caller = await this.keys.callerIn(headers, rawHeaders, ip);
      handshake.caller = caller;
      this.guard.admit(end);
      return { id, caller, line, arrival, body: bodyOf(body), ...(sockets && { sockets }) };
    } catch (error) {
      await this.guard.record(error, { id, protocol: adapter.id, caller, arrival });
      throw error;
    }
  }

  private trace({ headers, method, path }: RequestLine, end: SocketResponseEnd): CallTrace | undefined {
    return this.tracing.begin({ headers, method, url: path }, end);
  }
}

/** Runs the calls of connections. */
@Injectable()
export class SocketCalls {
  constructor(
    private readonly admission: SocketAdmission,
    private readonly relay: RelayService,
    private readonly protocols: ProtocolDetection,
    private readonly models: ModelAccess,
    private readonly limits: CallLimits,
  ) {}

  /** A call like one over HTTP. @throws AppError when it is rejected, and what `deliver` throws */
  run<Result>(
    handshake: ClientHandshake,
    request: SocketRequest,
    deliver: (reply: OutgoingReply) => Promise<Result>,
  ): Promise<Result> {
    return this.received(handshake, request, async (reply, end) => {
      end.headersSent = true;
      return deliver(reply);
    });
  }

  /** A request that runs no model: counted like a token count, and free. @throws AppError when it would be rejected */
  check(handshake: ClientHandshake, request: SocketRequest): Promise<Call> {
    return this.received(handshake, request, async ({ call }) => {
      this.models.plan(call, handshake.caller);
      await this.limits.countRequest(call, handshake.caller);
      return call;
    });
  }

  private received<Result>(
    handshake: ClientHandshake,
    request: SocketRequest,
    respond: (reply: OutgoingReply, end: SocketResponseEnd) => Promise<Result>,
  ): Promise<Result> {
    const work = async (): Promise<Result> => {
      const end = this.admission.begin();
      try {
        const incoming = await this.admission.admitted(handshake, request, end);
        const reader = this.protocols.at(handshake.adapter, handshake.line);
        return await this.relay.receive(reader, incoming, (reply) => respond(reply, end));
      } finally {
        end.close();
      }
    };
    return new Promise((resolve) => runForRequest(request.id, () => resolve(work())));
  }
}

/** The end of a call that has no HTTP response. */
class SocketResponseEnd extends EventEmitter implements ResponseEnd {
  destroyed = false;
  /** A response was begun. */
  headersSent = false;
  readonly statusCode = 200;

  close(): void {
    this.destroyed = true;
    this.emit('close');
  }
}
