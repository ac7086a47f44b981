/** An account with keys on a database of the test's own, and processes that warn it by mail, for specs of alerts. */

import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AlertSender } from '../../src/keys/alerts/alert-sender.js';
import { AlertsModule, AlertTimings, KeyNoticeMails, ThresholdWatch } from '../../src/keys/alerts/index.js';
import { AlertPreferences, type AlertSettings, DEFAULT_ALERTS } from '../../src/keys/alerts/account-notices.js';
import { AuditModule } from '../../src/platform/audit/index.js';
import { Config, ConfigModule } from '../../src/platform/config/index.js';
import { DatabaseModule } from '../../src/platform/database/index.js';
import { ApiKeyService, KeysModule } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { Clock, parseUsd } from '../../src/platform/shared/index.js';
import { WalletModule, WalletService } from '../../src/wallet/index.js';
import { freshDatabase, type TestDatabase } from './database.js';
import { Mailbox } from './mailbox.js';
import { testingModule } from './modules.js';

export const ANN = 'ann@example.com';
const PUBLIC_URL = 'https://relay.example';

/** All of it differs for each test. */
export class AlertsWorld {
  readonly processes: TestingModule[] = [];
  accountId = '';

  private constructor(
    readonly database: TestDatabase,
    readonly mailbox: Mailbox,
  ) {}

  /** One process, and Ann with $10 and a verified address. */
  static async start(): Promise<AlertsWorld> {
    const [database, mailbox] = await Promise.all([freshDatabase(), Mailbox.open()]);
    const world = new AlertsWorld(database, mailbox);
    const app = await world.process();
    const { id } = await app
      .get(Onboarding)
      .createAccount({ email: ANN, verified: true }, { amount: parseUsd('10'), reason: 'test' });
    world.accountId = id;
    return world;
  }

  /** One more process of the program. It looks when it is told to, or from `AlertWatch.start` on. */
  async process(timings: Partial<AlertTimings> = {}, clock = new Clock()): Promise<TestingModule> {
    const config = Config.fromEnvironment({
      DATABASE_URL: this.database.url,
      SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
      SMTP_URL: this.mailbox.url,
      PUBLIC_URL,
    });
    const imports = [
      ConfigModule,
      DatabaseModule,
      AuditModule,
      AlertsModule,
      OnboardingModule,
      KeysModule,
      WalletModule,
    ];
    const app = await testingModule(config, { imports }, (builder) =>
      builder
        .overrideProvider(Clock)
        .useValue(clock)
        .overrideProvider(AlertTimings)
        .useValue({ ...new AlertTimings(), ...timings }),
    );
    this.processes.push(await app.init());
    return app;
  }

  async close(): Promise<void> {
    for (const app of this.processes) await app.close();
    await this.mailbox.close();
    await this.database.drop();
  }

  get app(): TestingModule {
    return this.processes[0]!;
  }

  get<Provider>(token: abstract new (...parts: never[]) => Provider, app = this.app): Provider {
    return app.get<Provider>(token as never, { strict: false });
  }

  query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.get(DataSource).query(text, values);
  }

  /** What a process does every few seconds, as if they had passed. */
  async scan(app = this.app): Promise<void> {
    await this.query('UPDATE alert_looks SET next_at = now()');
    await this.get(ThresholdWatch, app).scan();
    await this.get(KeyNoticeMails, app).scan();
    await this.get(AlertSender, app).sendDue(new AbortController().signal);
  }

  /** The subjects of all mails to Ann so far. */
  get subjects(): readonly (string | undefined)[] {
    return this.mailbox.mails.filter(({ to }) => to.includes(ANN)).map(({ message }) => message.subject);
  }

  /** Has Ann's account warned at these thresholds, and else as usual. */
  async set(settings: Partial<AlertSettings>): Promise<void> {
    await this.get(AlertPreferences).save(this.accountId, { ...DEFAULT_ALERTS, ...settings });
  }

  /** Adds to the balance, or takes from it. */
  async credit(usd: string): Promise<void> {
    await this.get(WalletService).credit(this.accountId, parseUsd(usd), 'test');
  }

  /** Makes a key of Ann's; gives its id. */
  async key(settings: Partial<Parameters<ApiKeyService['create']>[0]> = {}): Promise<string> {
    const { id } = await this.get(ApiKeyService).create({ accountId: this.accountId, name: 'ci', ...settings });
    return id;
  }

  /** As if calls had used so much of its quota. */
  async use(keyId: string, usd: string): Promise<void> {
    await this.query('UPDATE api_keys SET used = $2 WHERE id = $1', [keyId, parseUsd(usd)]);
  }

  /** The same of its budgets, in the periods that run; of none more than all. */
  async useBudgets(keyId: string, usd: string): Promise<void> {
    await this.query('SELECT open_key_budgets(ARRAY[$1])', [keyId]);
    await this.query('UPDATE budgets SET used = least($2, "limit") WHERE holder_id = $1', [keyId, parseUsd(usd)]);
  }
}
