import { Controller, Delete, Get, Header, HttpCode, Param, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChannelDirectory } from '../catalog/channels/index.js';
import { ApiKeyGuard, KeyAuthenticator } from '../keys/index.js';
import { AppError, type JsonObject, maskKeys } from '../platform/shared/index.js';
import { Flow, type JsonTree, NO_BYTES, parseJsonTree, SplicedBody, writeJson } from '../protocols/contract/index.js';
import { inputItems, RESPONSES_PATH } from '../protocols/responses/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { callerOf, requestLineOf } from './call-context.js';
import { collected, jsonOf } from './collected-response.js';
import { currentResponse, ResumedStream, sequenceIn } from './resumed-stream.js';
import { RunState } from './run-state.js';
import {
  BackgroundResponses,
  type ResponseOwner,
  type StoredResponse,
  StoredResponses,
} from './stored-responses/index.js';
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
    private readonly background: BackgroundResponses,
    private readonly state: RunState,
    private readonly keys: KeyAuthenticator,
    private readonly channels: ChannelDirectory,
    private readonly adapters: AdapterRegistry,
    private readonly client: UpstreamClient,
  ) {}

  @Get()
  async read(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') id: string,
    @Query('stream') stream?: unknown,
    @Query('starting_after') startingAfter?: unknown,
  ): Promise<string | undefined> {
    const owner = await this.ownerOf(request);
    const background = await this.background.find(owner, id);
    if (background !== undefined && stream === 'true') {
      await new ResumedStream(this.background, this.state, owner, id).send(reply, sequenceIn(startingAfter));
      return undefined;
    }
    void reply.header(...JSON_TYPE);
    if (background !== undefined) return currentResponse(background);
    const response = await this.find(request, id);
    if (stream === 'true') throw noStream();
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
    const wasBackground = await this.background.delete(callerOf(request), id);
    const response = await this.find(request, id).catch((error: unknown) => {
      // Only complete responses are stored beside.
      if (wasBackground && error instanceof ResponseNotFound) return undefined;
      throw error;
    });
    if (response?.content === undefined && response !== undefined)
      await this.query(response, { method: 'DELETE', path: pathOf(id) });
    await this.responses.delete(callerOf(request), id);
    return JSON.stringify({ id, object: 'response', deleted: true });
  }

  /** Has no effect on a response that has ended. */
  @Post('cancel')
  @HttpCode(200)
  @Header(...JSON_TYPE)
  async cancel(@Req() request: FastifyRequest, @Param('id') id: string): Promise<string> {
    const owner = await this.ownerOf(request);
    const background = await this.background.find(owner, id);
    if (background !== undefined) {
      const response = currentResponse(background);
      if (background.status !== 'in_progress' || background.lost !== undefined) return response;
      const cancelled = JSON.stringify({ ...(JSON.parse(response) as JsonObject), status: 'cancelled' });
      if (await this.background.end(owner, id, 'cancelled', cancelled)) return cancelled;
      const ended = await this.background.find(owner, id);
      if (ended !== undefined) return currentResponse(ended);
    }
    await this.find(request, id);
    throw new AppError('invalid_request', 'Only background responses can be cancelled; this response is complete.');
  }

  /** @throws AppError not_found when the key has no such response */
  private async find(request: FastifyRequest, id: string): Promise<StoredResponse> {
    const response = await this.responses.find(await this.ownerOf(request), id);
    if (response === undefined) throw new ResponseNotFound(id);
    return response;
  }

  private async ownerOf(request: FastifyRequest): Promise<ResponseOwner> {
    const caller = callerOf(request);
    const { keyId, accountId } = caller;
    return { keyId, accountId, secret: await this.keys.secretOf(caller, request.headers) };
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
    const response = await collected(this.client.open(channel, credential, request, new Flow()), TIMEOUT_MS);
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
