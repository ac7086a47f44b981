/** A catalog on a database of the test's own, and the programs that read and change it. */

import { Global, type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { CatalogModule } from '../../src/catalog/index.js';
import { CatalogExport, CatalogImport, ChannelDirectory, ChannelsModule } from '../../src/catalog/channels/index.js';
import { Config } from '../../src/platform/config/index.js';
import { DatabaseModule } from '../../src/platform/database/index.js';
import { Clock } from '../../src/platform/shared/index.js';
import { freshDatabase, type TestDatabase } from './database.js';

const PROTOCOLS = new Map([
  ['responses', 'bearer'],
  ['chat-completions', 'bearer'],
  ['messages', 'x-api-key'],
  ['gemini', 'x-goog-api-key'],
] as const);
export const UPSTREAM_SECRET = 'sk-upstream-secret-1';

/** A whole catalog with something in every field. */
export const CATALOG = `
groups:
  - { name: default, multiplier: 1 }
  - name: saver
    multiplier: 0.8
    description: Slower channels at a discount
    limits: { requests_per_minute: 600, concurrency: 20 }
models:
  - name: big
    display_name: Big One
    owned_by: acme
    context_window: 400000
    max_output_tokens: 128000
    groups: [default, saver]
    capabilities: [vision, tools, thinkingMode: budget]
    effort_multipliers: { high: 1.5 }
    request_fee: 0.000000001
    prices:
      - { from_prompt_tokens: 0, input: 1.25, cache_read: 0.125, output: 10 }
      - { from_prompt_tokens: 272000, input: 2.50, cache_read: 0.25, output: 15.123456789 }
  - { name: small, context_window: 8000, max_output_tokens: 1000, prices: free }
channels:
  - name: main
    protocol: responses
    base_url: https://upstream.example/v1/
    query: { api-version: "2026-01-01" }
    credentials: [env:MAIN_KEY, ${UPSTREAM_SECRET}]
    models: { big: big-2026-08, small: [small-a, small-b] }
    groups: [default, saver]
    tier: 2
    weight: 50
    max_concurrency: 200
    costs:
      big: [{ input: 1, cache_read: 0.100000001, output: 8, request_fee: 0.002 }, { from_prompt_tokens: 272000, input: 2, output: 12 }]
      small: 0
    timeouts: { idle_ms: 60000 }
    headers: { X-Extra: value }
    flags: { includeUsage: true, maxOutput: 8192, efforts: [low, high] }
  - { name: spare, protocol: chat-completions, base_url: "http://127.0.0.1:9", auth: none, models: [small] }
`;

/** Of the models here, those that the group's channels serve. */
export const served = (directory: ChannelDirectory, group: string): readonly string[] =>
  ['big', 'small'].filter((model) => directory.protocolsFor(group, model).length > 0);

export interface CatalogWorld {
  readonly sql: pg.Client;
  /** Another program on the database. @param variables of its environment */
  readonly boot: (variables?: Record<string, string>) => Promise<INestApplicationContext>;
  /** Gives a line for each change. */
  readonly apply: (program: INestApplicationContext, text: string, prune?: boolean) => Promise<readonly string[]>;
  readonly exported: (program: INestApplicationContext) => Promise<string>;
  readonly version: () => Promise<number>;
  readonly priceVersions: (model: string) => Promise<number>;
  /** Closes every program, and begins with an empty database. */
  readonly reopen: () => Promise<void>;
}

/** For a spec file: an empty database before each test, gone behind it. */
export function useCatalog(): CatalogWorld {
  let database: TestDatabase;
  let sql: pg.Client;
  const programs: INestApplicationContext[] = [];

  const boot = async (
    variables: Record<string, string> = { MAIN_KEY: 'sk-main' },
  ): Promise<INestApplicationContext> => {
    const environment = { DATABASE_URL: database.url, SECRET_KEY: 'k'.repeat(32), ...variables };
    @Global()
    @Module({
      providers: [{ provide: Config, useValue: Config.fromEnvironment(environment) }, Clock],
      exports: [Config, Clock],
    })
    class SettingsModule {}
    @Module({ imports: [SettingsModule, DatabaseModule, CatalogModule, ChannelsModule] })
    class Program {}
    const program = await NestFactory.createApplicationContext(Program, { logger: false, abortOnError: false });
    programs.push(program);
    return program;
  };
  const apply = (program: INestApplicationContext, text: string, prune = false): Promise<readonly string[]> =>
    program.get(CatalogImport).apply(text, { fileName: 'catalog.yaml', prune, protocols: PROTOCOLS });
  const exported = async (program: INestApplicationContext): Promise<string> =>
    (await program.get(CatalogExport).export()).text;
  const version = async (): Promise<number> =>
    Number((await sql.query('SELECT version FROM catalog_state')).rows[0].version);
  const priceVersions = async (model: string): Promise<number> =>
    Number((await sql.query('SELECT count(*) FROM price_versions WHERE model = $1', [model])).rows[0].count);
  const open = async (): Promise<void> => {
    database = await freshDatabase();
    sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
  };
  const close = async (): Promise<void> => {
    await Promise.all(programs.splice(0).map((program) => program.close()));
    await sql.end();
    await database.drop();
  };
  const reopen = async (): Promise<void> => {
    await close();
    await open();
  };
  beforeEach(open);
  afterEach(close);

  return {
    get sql() {
      return sql;
    },
    boot,
    apply,
    exported,
    version,
    priceVersions,
    reopen,
  };
}
