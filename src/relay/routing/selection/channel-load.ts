import { Injectable } from '@nestjs/common';
import { Config } from '../../../platform/config/index.js';
import type { Channel } from '../../../catalog/channels/index.js';

/**
 * How many calls of this process each channel is answering. A channel's bound is that of the whole installation on one
 * host: each worker keeps to its share of it, rounded up. Several hosts know nothing of each other's.
 */
@Injectable()
export class ChannelLoad {
  private readonly running = new Map<string, number>();

  constructor(private readonly config: Config) {}

  isFull({ id, maxConcurrency }: Channel): boolean {
    if (maxConcurrency === undefined) return false;
    return (this.running.get(id) ?? 0) >= Math.ceil(maxConcurrency / this.config.workers);
  }

  enter({ id }: Channel): void {
    this.running.set(id, (this.running.get(id) ?? 0) + 1);
  }

  leave({ id }: Channel): void {
    const others = (this.running.get(id) ?? 0) - 1;
    if (others > 0) this.running.set(id, others);
    else this.running.delete(id);
  }
}
