import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { countedPromptTokens, likelyPromptTokens } from '../billing/index.js';
import { type Call, Flow, type PromptQuestion, UpstreamRefusal } from '../call/index.js';
import { type Channel, UpstreamClient } from '../channels/index.js';
import { TokenCounter } from '../tokens/index.js';
import { isJsonObject, type JsonObject } from '../shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { Bodies } from './bodies.js';
import { ModelAccess } from './model-access.js';
import { arrivalOf, callerOf, requestLineOf } from './request-facts.js';
import { collected, jsonOf } from './collected-answer.js';

/** Clients ask in passing, two dozen times at once: better a count of our own than a late one. */
const PATIENCE_MS = 5_000;
/** A prompt may be larger than its model can read: whoever asks wants to know just that. */
const NO_WINDOW = Infinity;

/** Says how many tokens a prompt has. It is no call: it costs nothing and leaves no row. */
@Injectable()
export class PromptCounts {
  constructor(
    private readonly bodies: Bodies,
    private readonly models: ModelAccess,
    private readonly adapters: AdapterRegistry,
    private readonly client: UpstreamClient,
    private readonly counter: TokenCounter,
  ) {}

  /**
   * As an upstream of the dialect counts it, or else as it is counted here.
   * @throws AppError when the request is refused, by us or by the upstream; never because an upstream fails
   */
  async answer(question: PromptQuestion, request: FastifyRequest): Promise<JsonObject> {
    const reader = question.headReader();
    const body = await this.bodies.read(request.raw, reader);
    try {
      const head = reader.end(body);
      const { createdAt, ip } = arrivalOf(request);
      const line = requestLineOf(request);
      const call: Call = { id: request.id, createdAt, protocol: question.protocol, request: line, ip, head, body };
      const { group, model } = this.models.permitted(head.model, callerOf(request));
      const channel = this.models
        .candidates(question.protocol, group.name, model.name)
        .find(({ protocol }) => protocol === question.protocol);
      const answer = channel && (await this.ask(question, call, channel));
      return answer ?? question.render(await this.count(call));
    } finally {
      body.drop();
    }
  }

  /** Undefined when the upstream does not know the question, or fails. */
  private async ask(question: PromptQuestion, call: Call, channel: Channel): Promise<JsonObject | undefined> {
    const upstreamModel = channel.models.get(call.head.model)?.[0] ?? call.head.model;
    const request = question.requestFor(call, upstreamModel);
    const parts = this.client.open(channel, channel.credentials[0]?.secret, request, new Flow());
    const answer = await collected(parts, PATIENCE_MS).catch(() => undefined);
    if (answer === undefined) return undefined;
    const { status, headers } = answer;
    const body = jsonOf(answer);
    if (status >= 200 && status < 300) return isJsonObject(body) && question.isAnswer(body) ? body : undefined;
    const error = this.adapters.upstream(channel.protocol).classifyError(status, headers, body);
    // Of an unknown address nobody can be told more than that.
    if (error instanceof UpstreamRefusal && status !== 404) throw error;
    return undefined;
  }

  private async count({ protocol, head, body }: Call): Promise<number> {
    const places = this.adapters.upstream(protocol).textPlaces;
    const counted = await this.counter.count({ prompt: body.bytes, answer: [], places });
    return counted === undefined
      ? likelyPromptTokens(head.size, NO_WINDOW)
      : countedPromptTokens(head.size, NO_WINDOW, counted.prompt);
  }
}
