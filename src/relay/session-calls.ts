import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, KeyAuthenticator, type OwnedKey } from '../keys/index.js';
import type { AppError, Nanos } from '../platform/shared/index.js';
import type { ProtocolId, RequestLine } from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { ModelAccess } from './admission-control.js';
import { arrivalOf, bodyOf, type IncomingCall } from './call-context.js';
import { CallGuard } from './call.guard.js';
import { AdmissionDryRun } from './dry-run.js';
import { ProtocolDetection, type RequestReader } from './protocol-detection.js';
import { RelayService } from './relay.service.js';

/** A call that a signed-in user makes on a page. */
export interface SessionCall {
  /** Pays for the call. Its secret is not needed. */
  readonly key: OwnedKey;
  readonly protocol: ProtocolId;
  /** As a client would call it, with the model in it if the protocol names it there. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  /** As a client of the protocol would send it, except that nothing is stored whatever it says. */
  readonly body: string;
}

/** The decision of admission about a call now. */
export interface SessionEstimate {
  /** Amount that would be put on hold; undefined if the call would be rejected. */
  readonly hold: Nanos | undefined;
  readonly refusal: AppError | undefined;
}

/**
 * Makes calls with a key of the signed-in user, as if a client had sent them with its secret: load shedding, limits,
 * hold, failover, settlement and usage log are those of every call.
 */
@Injectable()
export class SessionCalls {
  constructor(
    private readonly keys: KeyAuthenticator,
    private readonly guard: CallGuard,
    private readonly adapters: AdapterRegistry,
    private readonly protocols: ProtocolDetection,
    private readonly relay: RelayService,
    private readonly models: ModelAccess,
    private readonly dryRun: AdmissionDryRun,
  ) {}

  /** Sends the response to the client, streamed if the body says so. @throws AppError */
  async stream(call: SessionCall, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { reader, incoming } = await this.admitted(call, request, reply);
    return this.relay.serve(reader, incoming, reply);
  }

  /** The complete response. @throws AppError */
  async collect(call: SessionCall, request: FastifyRequest, reply: FastifyReply): Promise<Buffer> {
    const { reader, incoming } = await this.admitted(call, request, reply);
    return this.relay.collect(reader, incoming, reply);
  }

  /** Sends, holds and records nothing. @throws AppError when the body is invalid in its protocol */
  async estimate({ key, protocol, body, ...address }: SessionCall, request: FastifyRequest): Promise<SessionEstimate> {
    const { createdAt, ip } = arrivalOf(request);
    const adapter = this.adapters.clientAdapter(protocol);
    const bytes = Buffer.from(body);
    const head = adapter.headReader(lineOf(address)).end({ bytes, countable: bytes });
    await this.keys.authenticateOwned(key, ip);
    const result = await this.dryRun.of({ id: request.id, createdAt, protocol, head, ip }, { keyId: key.id });
    const refusal =
      result && (result.keyRefusal ?? result.modelRefusal ?? result.limitRefusal ?? result.money?.refusal);
    return { hold: refusal === undefined ? (result?.money?.result.hold as Nanos | undefined) : undefined, refusal };
  }

  /** Names of the models that a key may use, newest first. @throws AppError when the key is not usable */
  async modelsOf(key: OwnedKey, request: FastifyRequest): Promise<readonly string[]> {
    const caller = await this.keys.authenticateOwned(key, arrivalOf(request).ip);
    return this.models.listed(caller).map(({ id }) => id);
  }

  private async admitted(
    { key, protocol, body, ...address }: SessionCall,
    request: FastifyRequest & { user?: Caller },
    reply: FastifyReply,
  ): Promise<{ readonly reader: RequestReader; readonly incoming: IncomingCall }> {
    const adapter = this.adapters.clientAdapter(protocol);
    try {
      const caller = await this.keys.authenticateOwned(key, arrivalOf(request).ip);
      // Stored responses are encrypted with the secret, which is not known here.
      request.user = { ...caller, storesResponses: false };
      this.guard.admit(reply.raw);
    } catch (error) {
      await this.guard.record(error, { id: request.id, protocol, caller: request.user, arrival: arrivalOf(request) });
      throw error;
    }
    const line = lineOf(address);
    const arriving = bodyOf(Buffer.from(body));
    const incoming = { id: request.id, caller: request.user, line, arrival: arrivalOf(request), body: arriving };
    return { reader: this.protocols.at(adapter, line), incoming };
  }
}

const lineOf = ({ path, query }: Pick<SessionCall, 'path' | 'query'>): RequestLine => ({
  method: 'POST',
  path,
  query,
  headers: { 'content-type': 'application/json' },
});
