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
  type SeededAccount,
  type SeededKey,
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

interface PlannedCall {
  readonly script: CallScript;
  readonly caller: Caller;
}

/** Creates seed calls, including some refused because of disabled or expired keys. */
@Injectable()
export class SeedCalls {
  constructor(
    private readonly player: CallPlayer,
    private readonly catalog: SeedCatalog,
    private readonly callers: KeyDirectory,
    private readonly dataSource: DataSource,
  ) {}

  /** Creates partitions for past months; the service itself creates those of the current and later months. */
  async createPartitions(): Promise<void> {
    await this.dataSource.query("SELECT create_call_partitions(now() - interval '2 months', 5)");
  }

  /** Backdates accounts and keys to their opening credit. Their audit log entries keep the current time. */
  async backdate(accounts: readonly SeededAccount[], now: number): Promise<void> {
    const [opened, ids] = [new Date(now - OPENED_DAYS_AGO * DAY_MS), accounts.map(({ id }) => id)];
    await this.dataSource.query('UPDATE accounts SET created_at = $1 WHERE id = ANY ($2)', [opened, ids]);
    await this.dataSource.query('UPDATE api_keys SET created_at = $1 WHERE account_id = ANY ($2)', [opened, ids]);
  }

  /**
   * Plays an account's calls in chronological order, one after the other, so that the calls it can pay for are always
   * the same. Returns their number.
   */
  async play({ keys }: SeededAccount, random: SeededRandom, now: number): Promise<number> {
    const planned: PlannedCall[] = [];
    for (const key of keys) planned.push(...(await this.plan(key, random, now)));
    const inOrder = planned.toSorted((one, other) => one.script.createdAt - other.script.createdAt);
    for (const { script, caller } of inOrder) await this.player.play(script, caller);
    return inOrder.length;
  }

  /** Records refused calls of disabled and expired keys. Returns their number. */
  async refuse({ keys }: SeededAccount, random: SeededRandom, now: number): Promise<number> {
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

  /** Empty when no model is available to the key. */
  private async plan(key: SeededKey, random: SeededRandom, now: number): Promise<readonly PlannedCall[]> {
    const caller = await this.callerOf(key);
    const offers = this.offersFor(caller);
    // Drawing a time takes a number of draws that depends on the date; the other properties must not.
    const times = random.fork();
    return Array.from({ length: offers.length === 0 ? 0 : key.plan.calls }, () => {
      const createdAt = drawTime(times, now, key.plan.days ?? WHOLE_MONTH);
      return { script: drawCall(random, createdAt, offers), caller };
    });
  }

  /** In any state of the key. */
  private async callerOf({ plan, secret }: SeededKey): Promise<Caller> {
    const caller = await this.callers.find(secret.reveal());
    if (caller === undefined) throw new TypeError(`The key "${plan.name}" was not created.`);
    return caller;
  }

  private offersFor({ groupName, models }: Caller): readonly SeedOffer[] {
    return this.catalog.offers(groupName).filter(({ model }) => models?.has(model.name) ?? true);
  }
}

type SeedOutcome =
  | { readonly state: 'made'; readonly calls: number }
  /** The database was already seeded. */
  | { readonly state: 'present' }
  /** Accounts with public passwords must not be added to a database in use. */
  | { readonly state: 'withheld'; readonly reason: string };

/** Fills an empty database with the data of a month of use. */
@Injectable()
export class Seed {
  constructor(
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly people: SeedAccounts,
    private readonly catalog: SeedCatalog,
    private readonly calls: SeedCalls,
  ) {}

  /** An interrupted run is not resumed: its data is consistent but incomplete. */
  run(): Promise<SeedOutcome> {
    // As a command would, so that the audit log has entries.
    return actingAs(COMMAND_LINE, () => this.make());
  }

  private async make(): Promise<SeedOutcome> {
    if (this.config.production) return { state: 'withheld', reason: 'NODE_ENV is production' };
    const existing = await this.people.existing();
    if (existing === 'seed') return { state: 'present' };
    if (existing === 'others') return { state: 'withheld', reason: 'the database already has accounts' };
    await this.catalog.applyUnlessStored();
    await this.calls.createPartitions();
    const now = this.clock.now();
    const accounts = await this.people.make(now);
    await this.calls.backdate(accounts, now);
    const months = accounts.map((account, index) => this.month(account, new SeededRandom(index + 1), now));
    return { state: 'made', calls: (await Promise.all(months)).reduce((sum, calls) => sum + calls, 0) };
  }

  private async month(account: SeededAccount, random: SeededRandom, now: number): Promise<number> {
    const played = await this.calls.play(account, random, now);
    await this.people.disable(account);
    return played + (await this.calls.refuse(account, random, now));
  }
}

/** Without the web server, and without the demo model, so that seed calls do not use it. */
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

/** Summary for the terminal. The passwords and the key are public. */
export function describeSeed(outcome: SeedOutcome): string {
  if (outcome.state === 'withheld') return `No seed data: ${outcome.reason}. Set DATA_DIR to an empty folder.\n\n`;
  const keys = SEED_ACCOUNTS.flatMap((account) => account.keys);
  const owner = SEED_ACCOUNTS.find((account) => account.keys.some(({ secret }) => secret === SEED_SECRET));
  const calls = outcome.state === 'made' ? `${outcome.calls} over the last 30 days` : 'created by an earlier start';
  return `Seed data, for development only:
  Accounts  ${SEED_ACCOUNTS.map(nameOf).join(', ')}; each with the password ${SEED_PASSWORD}
  Keys      ${keys.length}, one of them known: ${SEED_SECRET} (${owner?.email ?? 'no account'})
  Calls     ${calls}

`;
}

function nameOf({ email, admin, disabled, group }: SeedAccount): string {
  const notes = [admin && 'administrator', disabled && 'disabled', group && `group ${group}`].filter(Boolean);
  return notes.length === 0 ? email : `${email} (${notes.join(', ')})`;
}

/** Seeds the configured database in an application context of its own. */
export async function seedDatabase(): Promise<SeedOutcome> {
  // One line per seed call would bury warnings.
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
