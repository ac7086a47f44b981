import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { countedPromptTokens, likelyPromptTokens } from './billing/index.js';
import type { Call, PromptQuestion } from '../protocols/contract/index.js';
import { TokenCounter } from '../protocols/tokens/index.js';
import type { JsonObject } from '../platform/shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { Bodies } from './bodies.js';
import { ModelAccess } from './model-access.js';
import { arrivalOf, callerOf, requestLineOf } from './request-facts.js';
import { UpstreamPromptCounts } from './upstream-prompt-counts.js';

/** A prompt may be larger than its model can read: whoever asks wants to know just that. */
const NO_WINDOW = Infinity;

/** Says how many tokens a prompt has. It is no call: it costs nothing and leaves no row. */
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
   * As an upstream of the dialect counts it, or else as it is counted here.
   * @throws AppError when the request is refused, by us or by the upstream; never because an upstream fails
   */
  async answer(question: PromptQuestion, request: FastifyRequest): Promise<JsonObject> {
    const reader = question.headReader(requestLineOf(request));
    const caller = callerOf(request);
    const body = await this.bodies.read(request.raw, reader, caller.accountId);
    try {
      const head = reader.end(body);
      const { createdAt, ip } = arrivalOf(request);
      const line = requestLineOf(request);
      const call: Call = { id: request.id, createdAt, protocol: question.protocol, request: line, ip, head, body };
      const { group, model } = this.models.permitted(head.model, caller);
      const answer = await this.upstreams.ask(question, call, { group: group.name, model: model.name, caller });
      return answer ?? question.render(await this.count(call));
    } finally {
      body.drop();
    }
  }

  private async count({ protocol, head, body }: Call): Promise<number> {
    const places = this.adapters.protocol(protocol).textPlaces;
    const counted = await this.counter.count({ prompt: body.bytes, answer: [], places });
    return counted === undefined
      ? likelyPromptTokens(head.size, NO_WINDOW)
      : countedPromptTokens(head.size, NO_WINDOW, counted.prompt);
  }
}
