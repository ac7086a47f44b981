import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AuthModule } from '../../auth/index.js';
import { ChannelsModule } from '../../catalog/channels/index.js';
import { CatalogModule } from '../../catalog/index.js';
import { type Caller, KeyDirectory, KeysModule } from '../../keys/index.js';
import { OnboardingModule } from '../../keys/onboarding/index.js';
import { actingAs, AuditModule, COMMAND_LINE } from '../../platform/audit/index.js';
import { Config, ConfigModule } from '../../platform/config/index.js';
import { DatabaseModule } from '../../platform/database/index.js';
import { Clock } from '../../platform/shared/index.js';
import { BillingModule } from '../../relay/billing/index.js';
import { ApiModule } from '../../relay/index.js';
import { WalletModule } from '../../wallet/index.js';
import { CallPlayer } from './call-player.js';
import { type CallScript, DAY_MS, drawAddress, drawCall, drawTime, SeededRandom } from './call-script.js';
import {
  type MadeAccount,
  type MadeKey,
  OPENED_DAYS_AGO,
  REFUSED_DAYS,
  SEED_ACCOUNTS,
  SEED_PASSWORD,
  SEED_SECRET,
  type SeedAccount,
  SeedAccounts,
} from './seed.accounts.js';
import { SeedCatalog, type SeedOffer } from './seed.catalog.js';

const WHOLE_MONTH = [30, 0] as const;

/** A call that is about to be played, and who makes it. */
interface Planned {
  readonly script: CallScript;
  readonly caller: Caller;
}

/** The calls of the seed: those that are made, and those that are refused because a key is switched off or expired. */
@Injectable()
export class SeedCalls {
  constructor(
    private readonly player: CallPlayer,
    private readonly catalog: SeedCatalog,
    private readonly callers: KeyDirectory,
    private readonly dataSource: DataSource,
  ) {}

  /** Partitions for the months that have passed; the service itself makes those of this month and later ones. */
  async makeRoom(): Promise<void> {
    await this.dataSource.query("SELECT create_call_partitions(now() - interval '2 months', 5)");
  }

  /** Makes accounts and their keys as old as what they were opened with. What was recorded of making them is of now. */
  async makeOlder(accounts: readonly MadeAccount[], now: number): Promise<void> {
    const [opened, ids] = [new Date(now - OPENED_DAYS_AGO * DAY_MS), accounts.map(({ id }) => id)];
    await this.dataSource.query('UPDATE accounts SET created_at = $1 WHERE id = ANY ($2)', [opened, ids]);
    await this.dataSource.query('UPDATE api_keys SET created_at = $1 WHERE account_id = ANY ($2)', [opened, ids]);
  }

  /**
   * Plays an account's calls in the order of their times, one after the other: which of them it can still pay for must
   * not depend on which is quicker. Returns their number.
   */
  async play({ keys }: MadeAccount, random: SeededRandom, now: number): Promise<number> {
    const planned: Planned[] = [];
    for (const key of keys) planned.push(...(await this.plan(key, random, now)));
    const inOrder = planned.toSorted((one, other) => one.script.createdAt - other.script.createdAt);
    for (const { script, caller } of inOrder) await this.player.play(script, caller);
    return inOrder.length;
  }

  /** Tries those of its keys that are not accepted any more. Returns the number of refusals. */
  async refuse({ keys }: MadeAccount, random: SeededRandom, now: number): Promise<number> {
    let count = 0;
    for (const key of keys) {
      const caller = await this.callerOf(key);
      const protocol = this.offersFor(caller)[0]?.channel.protocol ?? '';
      for (let left = key.plan.refused ?? 0; left > 0; left -= 1, count += 1) {
        const createdAt = drawTime(random, now, REFUSED_DAYS);
        await this.player.playRefused({ createdAt, protocol, ip: drawAddress(random) }, caller);
      }
    }
    return count;
  }

  /** None when there is nothing that the key could call. */
  private async plan(key: MadeKey, random: SeededRandom, now: number): Promise<readonly Planned[]> {
    const caller = await this.callerOf(key);
    const offers = this.offersFor(caller);
    // What a call is like must not depend on the day that the seed is made on.
    const times = random.fork();
    return Array.from({ length: offers.length === 0 ? 0 : key.plan.calls }, () => {
      const createdAt = drawTime(times, now, key.plan.days ?? WHOLE_MONTH);
      return { script: drawCall(random, createdAt, offers), caller };
    });
  }

  /** Whatever the state of the key. */
  private async callerOf({ plan, secret }: MadeKey): Promise<Caller> {
    const caller = await this.callers.find(secret.reveal());
    if (caller === undefined) throw new TypeError(`The key "${plan.name}" was not made.`);
    return caller;
  }

  private offersFor({ groupName, models }: Caller): readonly SeedOffer[] {
    return this.catalog.offers(groupName).filter(({ model }) => models?.has(model.name) ?? true);
  }
}

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
