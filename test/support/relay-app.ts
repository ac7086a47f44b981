import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { AppModule } from '../../src/app/boot.js';
import { Sweeper } from '../../src/relay/billing/index.js';
import { CatalogService } from '../../src/catalog/index.js';
import { CatalogImport, ChannelDirectory } from '../../src/catalog/channels/index.js';
import { HealthLimits } from '../../src/relay/routing/health/cooldown.js';
import { Config } from '../../src/platform/config/index.js';
import { configureApp, type ConnectionTimes, createAdapter } from '../../src/app/configure-app.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { CallCounts } from '../../src/platform/limits/index.js';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { AdapterRegistry, RelayTimings, TranslationThread } from '../../src/relay/index.js';
import { formatUsd, parseUsd } from '../../src/platform/shared/index.js';
import { TokenThread } from '../../src/protocols/tokens/index.js';
import { LedgerCheck, WalletService } from '../../src/wallet/index.js';
import { eventually } from './eventually.js';
import { freshDatabase } from './database.js';
import { testingModule } from './modules.js';
import { builtTokenThread, builtTranslationThread } from './token-thread.js';
import { ScriptedUpstream } from './scripted-upstream.js';

/** A row of `calls` as the tests read it: names as in the database, amounts as text. */
export type StoredCall = Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };

export interface TestCaller {
  readonly accountId: string;
  readonly email: string;
  readonly keyId: string;
  /** `sk-…` */
  readonly key: string;
}

export interface CallerOptions {
  readonly credit?: string;
  readonly quota?: string;
  readonly models?: readonly string[];
  readonly group?: string;
}

/** Where a test is about something else, hosted tools cost nothing; without a fee they would be refused. */
export const NO_TOOL_FEES =
  '{ web_search: 0, web_fetch: 0, file_search: 0, code_interpreter: 0, code_execution: 0, image_generation: 0, mcp: 0 }';

/** `$1` per million in, `$10` out on `m`; `free` costs nothing; `fee` costs $0.02 a call; `only-<protocol>` are served by one. */
export const catalogFor = (baseUrl: string): string => `
groups:
  - { name: default, multiplier: 1 }
  - { name: saver, multiplier: 0.8 }
models:
  - { name: m, context_window: 200000, max_output_tokens: 64000, groups: [default, saver], owned_by: tests,
      tool_fees: ${NO_TOOL_FEES},
      prices: [{ from_prompt_tokens: 0, input: 1, cache_read: 0.1, output: 10 }] }
  - { name: free, context_window: 200000, max_output_tokens: 64000, groups: [default], tool_fees: ${NO_TOOL_FEES}, prices: free }
  - { name: fee, context_window: 200000, max_output_tokens: 64000, groups: [default], request_fee: 0.02,
      prices: [{ from_prompt_tokens: 0, input: 0, output: 0 }] }
  - { name: vendor/with-slash, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }
  - { name: only-chat, context_window: 200000, max_output_tokens: 64000, groups: [default], tool_fees: ${NO_TOOL_FEES}, prices: free }
  - { name: unserved, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }
  - { name: saver-only, context_window: 200000, max_output_tokens: 64000, groups: [saver], prices: free }
channels:
${['chat-completions', 'messages', 'responses']
  .map(
    (protocol) => `
  - name: ${protocol}-main
    protocol: ${protocol}
    base_url: ${baseUrl}
    credentials: [upstream-secret-of-${protocol}]
    groups: [default, saver]
    flags: { nativeOnly: true }
    models: { m: vendor-m-2026, free: vendor-free, fee: vendor-fee, vendor/with-slash: slashed, saver-only: s${protocol === 'chat-completions' ? ', only-chat: chatty' : ''} }`,
  )
  .join('')}
`;

/** The same with an upstream of Gemini for the model `m`. */
export const catalogWithGemini = (baseUrl: string): string => `${catalogFor(baseUrl)}
  - name: gemini-main
    protocol: gemini
    base_url: ${baseUrl}
    credentials: [upstream-secret-of-gemini]
    flags: { nativeOnly: true }
    models: { m: vendor-m-2026 }
`;

/** Channels are called whatever they did before: what a test has one do is not to be felt by the next. */
const HEALTH_OFF = { minOutcomes: Infinity, credentialCooldownMs: 0, maxRateLimitMs: 0 };

/** The whole application on a database of its own, with a scripted upstream behind all three protocols. */
export class RelayApp {
  private constructor(
    readonly app: NestFastifyApplication,
    /** `http://127.0.0.1:PORT` */
    readonly url: string,
    readonly upstream: ScriptedUpstream,
    /** As DATABASE_URL names it. */
    readonly databaseUrl: string,
    /** The relay alone; `close` does so too. */
    readonly stop: () => Promise<void>,
    readonly close: () => Promise<void>,
  ) {}

  /** With the catalog of `catalogFor`. */
  static async start(...options: Parameters<typeof RelayApp.startEmpty>): Promise<RelayApp> {
    const relay = await RelayApp.startEmpty(...options);
    await relay.applyCatalog(catalogFor(relay.upstream.url));
    return relay;
  }

  /**
   * With nothing in its catalog.
   * @param health `{}`: as it is in earnest
   * @param modules beside the application's own: protocols that only a test speaks
   */
  static async startEmpty(
    timings: Partial<RelayTimings> = {},
    environment: Record<string, string> = {},
    connections?: ConnectionTimes,
    health: Partial<HealthLimits> = HEALTH_OFF,
    modules: readonly Type[] = [],
  ): Promise<RelayApp> {
    const [database, upstream] = await Promise.all([freshDatabase(), ScriptedUpstream.start()]);
    const config = Config.fromEnvironment({
      DATABASE_URL: database.url,
      SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
      PORT: '0',
      DEMO: 'off',
      LOG_LEVEL: 'silent',
      // The test itself, which runs in the same process, may be what it waits for.
      MAX_EVENT_LOOP_DELAY_MS: '60000',
      ...environment,
    });
    const module = await testingModule(config, { imports: [...modules, AppModule] }, (builder) =>
      builder
        .overrideProvider(RelayTimings)
        .useValue({ ...new RelayTimings(), ...timings })
        .overrideProvider(HealthLimits)
        .useValue({ ...new HealthLimits(), ...health })
        .overrideProvider(TokenThread)
        .useValue(builtTokenThread())
        .overrideProvider(TranslationThread)
        .useValue(builtTranslationThread()),
    );
    const app = module.createNestApplication<NestFastifyApplication>(createAdapter(config, connections), {
      bodyParser: false,
      logger: false,
    });
    configureApp(app);
    await app.get(Sweeper).start();
    await app.get(CallCounts, { strict: false }).open();
    await app.listen(0, '127.0.0.1');
    app.get(ChannelDirectory, { strict: false }).serve();
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => (stopped ??= app.close());
    return new RelayApp(app, await app.getUrl(), upstream, database.url, stop, async () => {
      await stop();
      await upstream.close();
      await database.drop();
    });
  }

  /** Applies a catalog file's text; this process sees it at once. */
  async applyCatalog(text: string): Promise<readonly string[]> {
    const changes = await this.get(CatalogImport).apply(text, {
      fileName: 'test.yaml',
      prune: false,
      protocols: this.get(AdapterRegistry).defaultAuth,
    });
    await this.get(CatalogService).reload();
    return changes;
  }

  async caller(options: CallerOptions = {}): Promise<TestCaller> {
    const email = `user-${Math.random().toString(36).slice(2)}@example.com`;
    const credit = parseUsd(options.credit ?? '10');
    const account = await this.get(Onboarding).createAccount(
      { email, ...(options.group !== undefined && { groupName: options.group }) },
      credit > 0n ? { amount: credit, reason: 'test' } : undefined,
    );
    const { id, secret } = await this.get(ApiKeyService).create({
      accountId: account.id,
      name: 'test key',
      ...(options.quota !== undefined && { quota: parseUsd(options.quota) }),
      ...(options.models !== undefined && { models: options.models }),
    });
    return { accountId: account.id, email, keyId: id, key: secret.reveal() };
  }

  /** Every finished call of the account, oldest first. */
  calls({ accountId }: TestCaller): Promise<StoredCall[]> {
    return this.get(DataSource).query('SELECT * FROM calls WHERE account_id = $1 ORDER BY created_at, id', [accountId]);
  }

  /** The one call the account has made, once it is settled. @throws after 5 s, or when there are more */
  async onlyCall(caller: TestCaller): Promise<StoredCall> {
    return eventually(async () => {
      const [row, ...more] = await this.calls(caller);
      if (row === undefined || more.length > 0) throw new Error(`${more.length + (row ? 1 : 0)} rows instead of one`);
      return row;
    });
  }

  attempts(callId: string): Promise<Record<string, unknown>[]> {
    return this.get(DataSource).query('SELECT * FROM call_attempts WHERE call_id = $1 ORDER BY ordinal', [callId]);
  }

  async wallet({ accountId }: TestCaller): Promise<{ balance: string; held: string; holds: number }> {
    const { balance, held, holds } = await this.get(WalletService).balanceOf(accountId);
    return { balance: formatUsd(balance), held: formatUsd(held), holds };
  }

  ledger(): Promise<unknown> {
    return this.get(LedgerCheck).run();
  }

  /** A raw request, so that a test sees what is on the wire. */
  post(path: string, key: string, body: object | string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  get<Provider>(token: abstract new (...parts: never[]) => Provider): Provider {
    return this.app.get<Provider>(token as never, { strict: false });
  }
}
