import { Injectable } from '@nestjs/common';
import { actingAs, COMMAND_LINE } from '../../platform/audit/index.js';
import { Config } from '../../platform/config/index.js';
import { Clock } from '../../platform/shared/index.js';
import { type MadeAccount, SeedAccounts } from './seed.accounts.js';
import { SeedCalls } from './seed.calls.js';
import { SeedCatalog } from './seed.catalog.js';
import { SeededRandom } from './seeded-random.js';

/** What became of the seed; `calls` is the number that was made now. */
export type SeedOutcome =
  | { readonly state: 'made'; readonly calls: number }
  /** It had been made before: nothing was added. */
  | { readonly state: 'present' }
  /** The database is somebody's: accounts whose passwords everybody knows have no place in it. */
  | { readonly state: 'withheld'; readonly reason: string };

/** Fills a database with what a month of use would leave in it, once. */
@Injectable()
export class Seed {
  constructor(
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly people: SeedAccounts,
    private readonly catalog: SeedCatalog,
    private readonly calls: SeedCalls,
  ) {}

  /** A run that was broken off is not taken up again: what it had made is there and exact, the rest is missing. */
  run(): Promise<SeedOutcome> {
    // As a command would: so there is something in the audit log.
    return actingAs(COMMAND_LINE, () => this.make());
  }

  private async make(): Promise<SeedOutcome> {
    if (this.config.production) return { state: 'withheld', reason: 'NODE_ENV is production' };
    const found = await this.people.found();
    if (found === 'seed') return { state: 'present' };
    if (found === 'others') return { state: 'withheld', reason: 'the database already has accounts' };
    await this.catalog.applyIfNone();
    await this.calls.makeRoom();
    const now = this.clock.now();
    const accounts = await this.people.make(now);
    await this.calls.makeOlder(accounts, now);
    const months = accounts.map((account, index) => this.month(account, new SeededRandom(index + 1), now));
    return { state: 'made', calls: (await Promise.all(months)).reduce((sum, calls) => sum + calls, 0) };
  }

  private async month(account: MadeAccount, random: SeededRandom, now: number): Promise<number> {
    const played = await this.calls.play(account, random, now);
    await this.people.switchOff(account);
    return played + (await this.calls.refuse(account, random, now));
  }
}
