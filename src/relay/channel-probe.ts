import { Injectable } from '@nestjs/common';
import { Flow } from '../call/index.js';
import { CatalogService } from '../catalog/index.js';
import { type Channel, ChannelDirectory, UpstreamClient } from '../channels/index.js';
import { Notifications, TOPICS } from '../database/index.js';
import { AppError, isJsonObject, monotonicMs, reasonOf } from '../shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { collected, jsonOf } from './collected-answer.js';

/** What one channel said to the smallest call there is. */
export interface ProbeResult {
  readonly channel: string;
  /** The upstream's own name of the model that was asked; empty when the channel has none. */
  readonly model: string;
  readonly answered: boolean;
  /** What it answered, or why it did not, for the operator. */
  readonly message: string;
  readonly durationMs: number;
}

/** A model that thinks before it says a word needs some time even for one. */
const PATIENCE_MS = 60_000;
/** More of an upstream's words is not passed on, in characters. */
const MAX_WORDS_LENGTH = 300;

/** Asks channels whether they answer. A call that reaches an upstream, so an operator's to make: it costs a token or so. */
@Injectable()
export class ChannelProbe {
  constructor(
    private readonly catalog: CatalogService,
    private readonly channels: ChannelDirectory,
    private readonly adapters: AdapterRegistry,
    private readonly client: UpstreamClient,
    private readonly notifications: Notifications,
  ) {}

  /** Has this process probe for others: the credentials of channels stand in the environment of the server. */
  answerQuestions(): void {
    this.notifications.answer(TOPICS.probe, (name) => this.probe(String(name)));
  }

  /** Every channel in turn, by a running server, or from here when none runs. */
  async *all(): AsyncIterable<ProbeResult> {
    await this.catalog.reload();
    for (const { name } of this.channels.all()) {
      const [answer] = await this.notifications.ask(TOPICS.probe, name, PATIENCE_MS + 1000);
      yield (answer as ProbeResult | undefined) ?? (await this.probe(name));
    }
  }

  private async probe(name: string): Promise<ProbeResult> {
    await this.catalog.reload();
    const channel = this.channels.all().find((candidate) => candidate.name === name);
    const model = channel?.models.values().next().value?.[0] ?? '';
    const begunMs = monotonicMs();
    const result = (answered: boolean, message: string): ProbeResult => {
      return { channel: name, model, answered, message, durationMs: Math.round(monotonicMs() - begunMs) };
    };
    if (channel === undefined) return result(false, 'there is no such channel');
    if (channel.unavailableReason !== undefined) return result(false, channel.unavailableReason);
    try {
      return result(true, await this.ask(channel, model));
    } catch (error) {
      const { message, cause } = AppError.from(error);
      return result(false, cause === undefined ? message : `${message} (${reasonOf(cause)})`);
    }
  }

  private async ask(channel: Channel, model: string): Promise<string> {
    const adapter = this.adapters.upstream(channel.protocol);
    const parts = this.client.open(channel, channel.credentials[0]?.secret, adapter.smallestRequest(model), new Flow());
    const answer = await collected(parts, PATIENCE_MS);
    const { status, headers } = answer;
    const body = jsonOf(answer);
    if (status >= 200 && status < 300 && isJsonObject(body) && !isJsonObject(body['error'])) return `status ${status}`;
    throw new AppError(
      'upstream_error',
      `${status}: ${ownWords(body) ?? adapter.classifyError(status, headers, body).message}`,
    );
  }
}

/** What the upstream said itself: an operator may read it, unlike a client. */
function ownWords(body: unknown): string | undefined {
  const error = isJsonObject(body) ? body['error'] : undefined;
  const message = isJsonObject(error) ? error['message'] : undefined;
  return typeof message === 'string' ? message.slice(0, MAX_WORDS_LENGTH) : undefined;
}
