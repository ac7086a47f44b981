import type { PrimaryLink } from '../workers/index.js';
import type { Decision, Return, SharedCounts, Taking } from './counts.js';
import { GIVE_BACK_TOPIC, PROBE_TOPIC, TAKE_TOPIC } from './limit-topics.js';

/** The counts of all workers of one service, which their primary keeps (`serveLimits`). */
export class PrimaryCounts implements SharedCounts {
  readonly name = 'the primary process';
  onLost: ((reason: unknown) => void) | undefined;

  constructor(private readonly link: PrimaryLink) {}

  open(): Promise<void> {
    return this.probe();
  }

  async probe(): Promise<void> {
    await this.link.ask(PROBE_TOPIC, undefined);
  }

  take(taking: Taking): Promise<Decision> {
    return this.link.ask(TAKE_TOPIC, taking) as Promise<Decision>;
  }

  giveBack(back: Return): void {
    this.link.ask(GIVE_BACK_TOPIC, back).catch(() => undefined);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
