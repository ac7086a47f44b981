import { Controller, Delete, Get, Header, Param, Post, Query, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ChannelDirectory } from '../catalog/channels/index.js';
import { ApiKeyGuard, KeyAuthenticator } from '../keys/index.js';
import { AppError, maskKeys } from '../platform/shared/index.js';
import { Flow, type JsonTree, NO_BYTES, parseJsonTree, SplicedBody, writeJson } from '../protocols/contract/index.js';
import { inputItems, RESPONSES_PATH } from '../protocols/responses/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { callerOf, requestLineOf } from './call-context.js';
import { collected, jsonOf } from './collected-response.js';
import { type StoredResponse, StoredResponses } from './stored-responses/index.js';
import { UpstreamClient } from './upstream/upstream-client.js';

/** Excludes `input_tokens`, which is an endpoint. */
const RESPONSE_PATH = `${RESPONSES_PATH}/:id(^(?!input_tokens$).+$)`;
const JSON_TYPE = ['content-type', 'application/json; charset=utf-8'] as const;
const TIMEOUT_MS = 30_000;
const NO_BODY = new SplicedBody({ bytes: Buffer.from(NO_BYTES) });

/** A request about a stored response, to its channel. Path relative to the channel's base URL. */
interface UpstreamQuery {
  readonly method: 'GET' | 'DELETE';
  readonly path: string;
  readonly query?: string;
}

/** Stored responses: here if an upstream of another protocol made them, else at the channel. */
@Controller(RESPONSE_PATH)
@UseGuards(ApiKeyGuard)
export class StoredResponsesController {
  constructor(
    private readonly responses: StoredResponses,
    private readonly keys: KeyAuthenticator,
    private readonly channels: ChannelDirectory,
    private readonly adapters: AdapterRegistry,
    private readonly client: UpstreamClient,
  ) {}

  @Get()
  @Header(...JSON_TYPE)
  async read(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Query('stream') stream?: unknown,
  ): Promise<string> {
    if (stream === 'true') throw noStream();
    const response = await this.find(request, id);
    if (response.content !== undefined) return response.content.response;
    return this.query(response, { method: 'GET', path: pathOf(id), query: requestLineOf(request).query });
  }

  @Get('input_items')
  @Header(...JSON_TYPE)
  async listInput(@Req() request: FastifyRequest, @Param('id') id: string): Promise<string> {
    const response = await this.find(request, id);
    const { query } = requestLineOf(request);
    if (response.content === undefined)
      return this.query(response, { method: 'GET', path: `${pathOf(id)}/input_items`, query });
    const input = parseJsonTree(response.content.input, new Set()) as readonly JsonTree[];
    return writeJson(inputItems(id, input, new URLSearchParams(query)));
  }

  @Delete()
  @Header(...JSON_TYPE)
  async delete(@Req() request: FastifyRequest, @Param('id') id: string): Promise<string> {
    const response = await this.find(request, id);
    if (response.content === undefined) await this.query(response, { method: 'DELETE', path: pathOf(id) });
    await this.responses.delete(callerOf(request), response.id);
    return JSON.stringify({ id, object: 'response', deleted: true });
  }

  @Post('cancel')
  async cancel(@Req() request: FastifyRequest, @Param('id') id: string): Promise<never> {
    await this.find(request, id);
    throw new AppError('invalid_request', 'Only background responses can be cancelled; this response is complete.');
  }

  /** @throws AppError not_found when the key has no such response */
  private async find(request: FastifyRequest, id: string): Promise<StoredResponse> {
    const caller = callerOf(request);
    const { keyId, accountId } = caller;
    const secret = await this.keys.secretOf(caller, request.headers);
    const response = await this.responses.find({ keyId, accountId, secret }, id);
    if (response === undefined) throw new ResponseNotFound(id);
    return response;
  }

  /**
   * The channel's JSON about a response it stores.
   * @throws AppError unavailable when the channel no longer exists; classified upstream errors
   */
  private async query(
    { channelId, credentialId }: StoredResponse,
    { method, path, query = '' }: UpstreamQuery,
  ): Promise<string> {
    const channel = this.channels.all().find(({ id }) => id === channelId);
    if (channel === undefined || channel.unavailableReason !== undefined) throw new StoringChannelUnavailable();
    const { credentials } = channel;
    const credential = credentials.find(({ id }) => id === credentialId) ?? credentials[0];
    const request = { method, path, query, headers: { accept: 'application/json' }, body: NO_BODY };
    const response = await collected(this.client.open(channel, credential?.secret, request, new Flow()), TIMEOUT_MS);
    const { status, headers, chunks } = response;
    if (status >= 200 && status < 300) return Buffer.concat(chunks).toString('utf8');
    throw this.adapters.upstreamAdapter(channel.protocol).classifyError(status, headers, jsonOf(response));
  }
}

const pathOf = (id: string): string => `/responses/${encodeURIComponent(id)}`;

const noStream = (): AppError =>
  new AppError('invalid_request', 'Stored responses cannot be streamed. Remove stream.', {
    param: 'stream',
    fault: 'unsupported_parameter',
  });

class ResponseNotFound extends AppError {
  constructor(id: string) {
    super(
      'not_found',
      `No stored response "${maskKeys(id)}" for this key. It expired, was deleted, or was created with another key.`,
    );
  }
}

class StoringChannelUnavailable extends AppError {
  constructor() {
    super('unavailable', 'The upstream that stores this response is unavailable. Retry later.', {
      retryAfterSeconds: 60,
    });
  }
}
