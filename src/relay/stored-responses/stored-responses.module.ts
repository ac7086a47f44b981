import { Injectable, Logger, Module, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, reasonOf } from '../../platform/shared/index.js';
import { BackgroundResponses } from './background-responses.js';
import { Conversations } from './conversations.js';
import { StoredResponseLimits } from './stored-response.js';
import { StoredResponsesRepository } from './stored-responses.repository.js';
import { StoredResponses } from './stored-responses.service.js';
import { UpstreamStates, UpstreamStatesRepository } from './upstream-states.js';

const SWEEP_MS = 10 * 60 * 1000;

/** Deletes expired responses and ids of upstream state, at start and every ten minutes. */
@Injectable()
export class StoredResponseSweep implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('StoredResponses');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly rows: StoredResponsesRepository,
    private readonly states: UpstreamStatesRepository,
    private readonly background: BackgroundResponses,
    private readonly conversations: Conversations,
    private readonly clock: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.sweep();
    this.timer = setInterval(() => void this.trySweep(), SWEEP_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  async sweep(): Promise<void> {
    await this.rows.deleteExpired(this.clock.date());
    await this.states.deleteExpired(this.clock.date());
    await this.background.deleteExpired(this.clock.date());
    await this.conversations.deleteExpired(this.clock.date());
  }

  private async trySweep(): Promise<void> {
    await this.sweep().catch((error: unknown) =>
      this.logger.error(`Failed to delete expired responses and upstream state: ${reasonOf(error)}`),
    );
  }
}

@Module({
  providers: [
    BackgroundResponses,
    Conversations,
    StoredResponsesRepository,
    UpstreamStatesRepository,
    StoredResponseLimits,
    StoredResponses,
    UpstreamStates,
    StoredResponseSweep,
  ],
  exports: [BackgroundResponses, Conversations, StoredResponses, UpstreamStates],
})
export class StoredResponsesModule {}
