import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Flow, NO_BYTES, SplicedBody } from '../protocols/contract/index.js';
import { type Channel, type ChannelCredential, ChannelDirectory } from '../catalog/channels/index.js';
import { UpstreamClient } from './upstream/upstream-client.js';
import { KeyAuthenticator } from '../keys/index.js';
import { AppError, maskKeys } from '../platform/shared/index.js';
import { type StoredResponse, StoredResponses } from './stored-responses/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { collected, jsonOf } from './collected-response.js';
import { callerOf } from './request-facts.js';

const TIMEOUT_MS = 30_000;
const NO_BODY = new SplicedBody({ bytes: Buffer.from(NO_BYTES) });

/** A request about a stored response, to its channel. */
interface ResponseQuery {
  readonly method: 'GET' | 'DELETE';
  /** Path relative to the channel's base URL. */
  readonly path: string;
  readonly query?: string;
}

/** Queries about stored responses, here or at the channel that made them. */
@Injectable()
export class ResponseLookup {
  constructor(
    private readonly responses: StoredResponses,
    private readonly keys: KeyAuthenticator,
    private readonly channels: ChannelDirectory,
    private readonly adapters: AdapterRegistry,
    private readonly client: UpstreamClient,
  ) {}

  /** @throws AppError not_found when the key has no such response */
  async find(request: FastifyRequest, id: string): Promise<StoredResponse> {
    const caller = callerOf(request);
    const secret = await this.keys.secretOf(caller, request.headers);
    const { keyId, accountId } = caller;
    const response = await this.responses.find({ keyId, accountId, secret }, id);
    if (response === undefined) throw new ResponseNotFound(id);
    return response;
  }

  /** Deletes it here; its channel, if any, was asked before. */
  async delete(request: FastifyRequest, { id }: StoredResponse): Promise<void> {
    await this.responses.delete(callerOf(request), id);
  }

  /**
   * The channel's JSON about a response it stores.
   * @throws AppError unavailable when the channel no longer exists; classified upstream errors
   */
  async query({ channelId, credentialId }: StoredResponse, query: ResponseQuery): Promise<string> {
    const channel = this.channels.all().find(({ id }) => id === channelId);
    if (channel === undefined || channel.unavailableReason !== undefined) throw new UpstreamUnavailable();
    const { credentials } = channel;
    return this.exchange(channel, credentials.find(({ id }) => id === credentialId) ?? credentials[0], query);
  }

  private async exchange(
    channel: Channel,
    credential: ChannelCredential | undefined,
    { method, path, query = '' }: ResponseQuery,
  ): Promise<string> {
    const request = { method, path, query, headers: { accept: 'application/json' }, body: NO_BODY };
    const parts = this.client.open(channel, credential?.secret, request, new Flow());
    const response = await collected(parts, TIMEOUT_MS);
    const { status, headers, chunks } = response;
    if (status >= 200 && status < 300) return Buffer.concat(chunks).toString('utf8');
    throw this.adapters.upstream(channel.protocol).classifyError(status, headers, jsonOf(response));
  }
}

class ResponseNotFound extends AppError {
  constructor(id: string) {
    super(
      'not_found',
      `No stored response "${maskKeys(id)}" for this key. It expired, was deleted, or was created with another key.`,
    );
  }
}

class UpstreamUnavailable extends AppError {
  constructor() {
    super('unavailable', 'The upstream that stores this response is unavailable. Retry later.', {
      retryAfterSeconds: 60,
    });
  }
}
