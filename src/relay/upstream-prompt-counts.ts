import { Injectable } from '@nestjs/common';
import { type Call, Flow, type PromptQuestion, type TreeObject, UpstreamRefusal } from '../protocols/contract/index.js';
import { type Channel, upstreamModel } from '../catalog/channels/index.js';
import { type Assignment, ChannelSelection, NoChannel } from './routing/index.js';
import { UpstreamClient } from './upstream/upstream-client.js';
import type { Caller } from '../keys/index.js';
import { isJsonObject, type JsonObject } from '../platform/shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { affinityOfCall } from './affinity.js';
import { admitsNamed, ResponseStore, keeperOf } from './response-store.js';
import { collected, jsonOf } from './collected-response.js';
import { misfitOf } from './request-fit.js';
import { Translations } from './translations.js';

/** Clients ask in passing, two dozen times at once: better a count of our own than a late one. */
const TIMEOUT_MS = 5_000;

interface Asker {
  readonly group: string;
  readonly model: string;
  readonly caller: Caller;
}

/** Asks an upstream of the client's own dialect how many tokens a prompt has. */
@Injectable()
export class UpstreamPromptCounts {
  constructor(
    private readonly channels: ChannelSelection,
    private readonly adapters: AdapterRegistry,
    private readonly client: UpstreamClient,
    private readonly memory: ResponseStore,
    private readonly translations: Translations,
  ) {}

  /**
   * Undefined when there is none to ask, or it does not know the question, or fails.
   * @throws AppError when it refuses the request itself
   */
  async ask(question: PromptQuestion, call: Call, asker: Asker): Promise<JsonObject | undefined> {
    const assignment = await this.assignmentFor(question, call, asker);
    if (assignment === undefined) return undefined;
    try {
      return await this.exchange(question, call, assignment);
    } finally {
      // It is no call: what comes of it says little of how calls are answered.
      assignment.release();
    }
  }

  private async assignmentFor(
    { protocol: dialect }: PromptQuestion,
    call: Call,
    { group, model, caller }: Asker,
  ): Promise<Assignment | undefined> {
    const affinity = affinityOfCall(call, caller);
    const asked = this.adapters.protocol(dialect);
    const request = (): TreeObject => this.translations.read(call);
    const names = (): ReturnType<Translations['named']> => this.translations.named(call, caller, request);
    const named = await this.memory.recall(call, caller, asked, request, names);
    const admits = (channel: Channel): boolean =>
      channel.protocol === dialect && (named === undefined || admitsNamed(named, channel)) && !misfitOf(channel, call);
    const keeper = named && keeperOf(named);
    const { accountId } = caller;
    const wanted = { group, model, protocol: dialect, affinity, accountId, admits, keeper, mayProbe: false };
    try {
      return await this.channels.for(wanted).next();
    } catch (error) {
      if (error instanceof NoChannel) return undefined;
      throw error;
    }
  }

  private async exchange(
    question: PromptQuestion,
    call: Call,
    { channel, credential }: Assignment,
  ): Promise<JsonObject | undefined> {
    const request = question.requestFor(call, upstreamModel(channel, call.head.model));
    const parts = this.client.open(channel, credential?.secret, request, new Flow());
    const answer = await collected(parts, TIMEOUT_MS).catch(() => undefined);
    if (answer === undefined) return undefined;
    const { status, headers } = answer;
    const body = jsonOf(answer);
    if (status >= 200 && status < 300) return isJsonObject(body) && question.isAnswer(body) ? body : undefined;
    const error = this.adapters.upstream(channel.protocol).classifyError(status, headers, body);
    // Of an unknown address nobody can be told more than that.
    if (error instanceof UpstreamRefusal && status !== 404) throw error;
    return undefined;
  }
}
