import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthModule } from '../../auth/index.js';
import { ChannelsModule } from '../../catalog/channels/index.js';
import { CatalogModule } from '../../catalog/index.js';
import { KeysModule } from '../../keys/index.js';
import { OnboardingModule } from '../../keys/onboarding/index.js';
import { actingAs, AuditModule, COMMAND_LINE } from '../../platform/audit/index.js';
import { Config, ConfigModule } from '../../platform/config/index.js';
import { DatabaseModule } from '../../platform/database/index.js';
import { Clock } from '../../platform/shared/index.js';
import { BillingModule } from '../../relay/billing/index.js';
import { ApiModule } from '../../relay/index.js';
import { WalletModule } from '../../wallet/index.js';
import { CallPlayer } from './call-player.js';
import {
  type MadeAccount,
  SEED_ACCOUNTS,
  SEED_PASSWORD,
  SEED_SECRET,
  type SeedAccount,
  SeedAccounts,
} from './seed.accounts.js';
import { SeedCalls } from './seed.calls.js';
import { SeedCatalog } from './seed.catalog.js';
import { SeededRandom } from './seeded-random.js';

/** What became of the seed; `calls` is the number that was made now. */
type SeedOutcome =
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

/** What seeding needs of the application: no web server, and no demo model, so that the seed's calls are not its. */
@Module({
  imports: [
    ConfigModule,
    DatabaseModule,
    AuditModule,
    AuthModule,
    WalletModule,
    KeysModule,
    OnboardingModule,
    CatalogModule,
    ChannelsModule,
    BillingModule,
    ApiModule,
  ],
  providers: [Seed, SeedAccounts, SeedCatalog, SeedCalls, CallPlayer],
})
export class SeedModule {}

/** Three lines for the terminal: who there is, a key to try, the calls. Passwords and key are known to everybody. */
export function describeSeed(outcome: SeedOutcome): string {
  if (outcome.state === 'withheld') return `No seed data: ${outcome.reason}. Give DATA_DIR a folder of its own.\n\n`;
  const keys = SEED_ACCOUNTS.flatMap((account) => account.keys);
  const owner = SEED_ACCOUNTS.find((account) => account.keys.some(({ secret }) => secret === SEED_SECRET));
  const calls = outcome.state === 'made' ? `${outcome.calls} over the last 30 days` : 'created by an earlier start';
  return `Seed data, for development only:
  Accounts  ${SEED_ACCOUNTS.map(nameOf).join(', ')}; each with the password ${SEED_PASSWORD}
  Keys      ${keys.length}, one of them known: ${SEED_SECRET} (${owner?.email ?? 'nobody'})
  Calls     ${calls}

`;
}

function nameOf({ email, admin, disabled, group }: SeedAccount): string {
  const notes = [admin && 'administrator', disabled && 'disabled', group && `group ${group}`].filter(Boolean);
  return notes.length === 0 ? email : `${email} (${notes.join(', ')})`;
}

/** Seeds the database that the environment names, with services of its own, and closes them. */
export async function seedDatabase(): Promise<SeedOutcome> {
  // Thousands of lines about calls that nobody made would bury the few that matter.
  const app = await NestFactory.createApplicationContext(SeedModule, {
    logger: ['warn', 'error', 'fatal'],
    abortOnError: false,
  });
  app.enableShutdownHooks();
  try {
    return await app.get(Seed).run();
  } finally {
    await app.close();
  }
}
