import { applyDecorators, type CanActivate, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { upstreamModel } from '../catalog/channels/index.js';
import { ApiKeyGuard, type Caller } from '../keys/index.js';
import { isJsonObject, type JsonObject } from '../platform/shared/index.js';
import { type Call, Flow, type TokenCountEndpoint, UpstreamRefusal } from '../protocols/contract/index.js';
import { TokenCounter } from '../protocols/tokens/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { misfitOf, ModelAccess } from './admission-control.js';
import { countedPromptTokens, likelyPromptTokens } from './billing/index.js';
import { Bodies } from './bodies.js';
import { arrivalOf, callerOf, requestLineOf } from './call-context.js';
import { CallLimits } from './call-limits.js';
import { collected, jsonOf } from './collected-response.js';
import { affinityOfCall } from './failover.js';
import { admitsReferences, pinnedOrigin, ResponseStore } from './response-store.js';
import { type Assignment, ChannelSelection, NoChannel } from './routing/index.js';
import { TranslationService } from './translation.service.js';
import { UpstreamClient } from './upstream/upstream-client.js';

/** Clients count in passing and in bursts: an own estimate beats a late upstream. */
const TIMEOUT_MS = 5_000;

/** Asks an upstream of the client's protocol for the token count of a prompt. */
@Injectable()
export class UpstreamPromptCounts {
  constructor(
    private readonly channels: ChannelSelection,
    private readonly adapters: AdapterRegistry,
    private readonly client: UpstreamClient,
    private readonly responses: ResponseStore,
    private readonly translations: TranslationService,
  ) {}

  /**
   * Undefined if there is no suitable upstream or it fails.
   * @throws AppError when it rejects the request itself
   */
  async ask(endpoint: TokenCountEndpoint, call: Call, caller: Caller): Promise<JsonObject | undefined> {
    const assignment = await this.assignmentFor(endpoint, call, caller);
    if (assignment === undefined) return undefined;
    try {
      return await this.exchange(endpoint, call, assignment);
    } finally {
      // Not a call: its result says little about channel health.
      assignment.release();
    }
  }

  private async assignmentFor(
    { protocol }: TokenCountEndpoint,
    call: Call,
    caller: Caller,
  ): Promise<Assignment | undefined> {
    const references = (await this.responses.resolve(call, caller, () => this.translations.read(call))) ?? {};
    const selection = this.channels.for({
      group: caller.groupName,
      model: call.head.model,
      protocol,
      affinity: affinityOfCall(call, caller),
      accountId: caller.accountId,
      admits: (channel) =>
        channel.protocol === protocol && admitsReferences(references, channel) && !misfitOf(channel, call),
      pinned: pinnedOrigin(references),
      mayProbe: false,
    });
    try {
      return await selection.next();
    } catch (error) {
      if (error instanceof NoChannel) return undefined;
      throw error;
    }
  }

  private async exchange(
    endpoint: TokenCountEndpoint,
    call: Call,
    { channel, credential }: Assignment,
  ): Promise<JsonObject | undefined> {
    const request = endpoint.requestFor(call, upstreamModel(channel, call.head.model));
    const parts = this.client.open(channel, credential, request, new Flow());
    const response = await collected(parts, TIMEOUT_MS).catch(() => undefined);
    if (response === undefined) return undefined;
    const { status, headers } = response;
    const body = jsonOf(response);
    if (status >= 200 && status < 300) return isJsonObject(body) && endpoint.hasCount(body) ? body : undefined;
    const error = this.adapters.upstreamAdapter(channel.protocol).classifyError(status, headers, body);
    // 404: the upstream does not have this endpoint.
    if (error instanceof UpstreamRefusal && status !== 404) throw error;
    return undefined;
  }
}

/** Counts the tokens of a prompt. Free of charge and not recorded. */
@Injectable()
export class PromptCounts {
  constructor(
    private readonly bodies: Bodies,
    private readonly models: ModelAccess,
    private readonly adapters: AdapterRegistry,
    private readonly upstreams: UpstreamPromptCounts,
    private readonly counter: TokenCounter,
  ) {}

  /**
   * Counted by an upstream of the protocol, else by us.
   * @throws AppError when we or the upstream reject the request; never because an upstream fails
   */
  async respond(endpoint: TokenCountEndpoint, request: FastifyRequest): Promise<JsonObject> {
    const reader = endpoint.headReader(requestLineOf(request));
    const caller = callerOf(request);
    const body = await this.bodies.read(request.raw, reader, caller.accountId);
    try {
      const head = reader.end(body);
      const { createdAt, transport, ip } = arrivalOf(request);
      const { protocol } = endpoint;
      const line = requestLineOf(request);
      const call: Call = { id: request.id, createdAt, protocol, request: line, transport, ip, head, body };
      this.models.permitted(head.model, caller);
      const response = await this.upstreams.ask(endpoint, call, caller);
      return response ?? endpoint.render(await this.count(call));
    } finally {
      body.drop();
    }
  }

  /** Not limited by the context window: the client wants to know. */
  private async count({ protocol, head, body }: Call): Promise<number> {
    const places = this.adapters.clientAdapter(protocol).textPlaces;
    const counted = await this.counter.count({ prompt: body.bytes, response: [], places });
    return counted === undefined ? likelyPromptTokens(head.size) : countedPromptTokens(head.size, counted.prompt);
  }
}

/** Applies rate limits to requests that are free and not recorded. Requires the key guard. */
@Injectable()
export class RequestLimitGuard implements CanActivate {
  constructor(
    private readonly limits: CallLimits,
    private readonly adapters: AdapterRegistry,
  ) {}

  /** @throws RateLimited */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { ip } = arrivalOf(request);
    const statuses = await this.limits.countRequest({ id: request.id, ip }, callerOf(request));
    if (statuses === undefined) return true;
    const adapter = this.adapters.claimingAdapter(requestLineOf(request));
    void context.switchToHttp().getResponse<FastifyReply>().headers(adapter.renderLimits(statuses));
    return true;
  }
}

/** For controllers of token counts. */
export const PromptRoute = (): ClassDecorator & MethodDecorator =>
  applyDecorators(UseGuards(ApiKeyGuard, RequestLimitGuard));
