import { Injectable } from '@nestjs/common';
import { CatalogService } from '../catalog/index.js';
import { ChannelDirectory } from '../catalog/channels/index.js';
import { Notifications, TOPICS } from '../platform/database/index.js';
import { CHECK_TIMEOUT_MS, UpstreamQuestions } from './upstream-questions.js';

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

/** Asks channels whether they answer. A call that reaches an upstream, so an operator's to make: it costs a token or so. */
@Injectable()
export class ChannelProbe {
  constructor(
    private readonly catalog: CatalogService,
    private readonly channels: ChannelDirectory,
    private readonly questions: UpstreamQuestions,
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
      const [answer] = await this.notifications.ask(TOPICS.probe, name, CHECK_TIMEOUT_MS + 1000);
      yield (answer as ProbeResult | undefined) ?? (await this.probe(name));
    }
  }

  private async probe(name: string): Promise<ProbeResult> {
    await this.catalog.reload();
    const channel = this.channels.all().find((candidate) => candidate.name === name);
    const model = channel?.models.values().next().value?.[0] ?? '';
    const failed = (message: string): ProbeResult => ({
      channel: name,
      model,
      answered: false,
      message,
      durationMs: 0,
    });
    if (channel === undefined) return failed('no such channel');
    if (channel.unavailableReason !== undefined) return failed(channel.unavailableReason);
    const { answered, message, durationMs } = await this.questions.check(channel, model);
    return { channel: name, model, answered, message, durationMs };
  }
}
