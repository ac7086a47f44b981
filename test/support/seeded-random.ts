import { Random } from '../../src/relay/routing/selection/channel-status.js';

/** Chance that is the same in every run: a linear congruential generator. */
export class SeededRandom extends Random {
  constructor(private state: number) {
    super();
  }

  override next(): number {
    this.state = (this.state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return this.state / 2 ** 32;
  }
}
