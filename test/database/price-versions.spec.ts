import { Test, type TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { CatalogModule, type CatalogModel, CatalogService } from '../../src/catalog/index.js';
import { CatalogExport, CatalogImport, ChannelsModule } from '../../src/channels/index.js';
import { Config, ConfigModule } from '../../src/config/index.js';
import { DatabaseModule } from '../../src/database/index.js';
import { Clock } from '../../src/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

/** The time of day, and so much later. */
class LaterClock extends Clock {
  laterMs = 0;

  override now(): number {
    return super.now() + this.laterMs;
  }
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('versions of prices', () => {
  let database: TestDatabase;
  let clock: LaterClock;
  let program: TestingModule;
  let elsewhere: TestingModule;

  const boot = async (): Promise<TestingModule> => {
    const config = Config.fromEnvironment({ DATABASE_URL: database.url, SECRET_KEY: 'k'.repeat(32) });
    const module = await Test.createTestingModule({
      imports: [ConfigModule, DatabaseModule, CatalogModule, ChannelsModule],
    })
      .overrideProvider(Config)
      .useValue(config)
      .overrideProvider(Clock)
      .useValue(clock)
      .compile();
    return module.init();
  };
  const entry = (input: string, fields = ''): string =>
    `models: [{ name: m, context_window: 1000, max_output_tokens: 100, prices: [{ input: ${input}, output: 2 }], ${fields} }]`;
  const apply = (text: string): Promise<readonly string[]> =>
    program.get(CatalogImport).apply(text, { fileName: 'f', prune: false, protocols: new Map() });
  const exported = async (): Promise<string> => (await program.get(CatalogExport).export()).text;
  const modelIn = ({ get }: Pick<TestingModule, 'get'>): CatalogModel | undefined =>
    get(CatalogService).current().models.get('m');
  const inputIn = (one: TestingModule): bigint | undefined =>
    modelIn({ get: one.get.bind(one) })?.pricing.tiers[0]?.prices.input;
  const reload = (): Promise<unknown> =>
    Promise.all([program, elsewhere].map((one) => one.get(CatalogService).reload()));
  const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
  const count = async (): Promise<number> =>
    Number((await program.get(DataSource).query('SELECT count(*) FROM price_versions'))[0].count);

  beforeEach(async () => {
    [database, clock] = [await freshDatabase(), new LaterClock()];
    [program, elsewhere] = [await boot(), await boot()];
  });
  afterEach(async () => {
    await Promise.all([program, elsewhere].map((one) => one.close()));
    await database.drop();
  });

  it('come into force by themselves, at their time, in every process and without a word from the database', async () => {
    await apply(entry('1'));
    const time = inHours(2);
    expect(await apply(entry('3', `valid_from: ${time}`))).toEqual([
      `model m: prices input 1, output 2 → input 3, output 2 from ${time}`,
    ]);
    // The other process hears of the change; then neither hears anything any more.
    await eventually(() => expect(elsewhere.get(CatalogService).current().upcoming).toHaveLength(1));
    await reload();
    const version = program.get(CatalogService).current().version;
    clock.laterMs = 2 * HOUR_MS - 60_000;
    expect([inputIn(program), inputIn(elsewhere)]).toEqual([1_000_000_000n, 1_000_000_000n]);
    clock.laterMs = 2 * HOUR_MS;
    expect([inputIn(program), inputIn(elsewhere)]).toEqual([3_000_000_000n, 3_000_000_000n]);
    expect(program.get(CatalogService).current().version).toBe(version);
  });

  it('are the ones in force by the database when it is read after their time', async () => {
    await apply(entry('1'));
    const soon = new Date(Date.now() + 1500).toISOString();
    await apply(entry('3', `valid_from: "${soon}"`));
    expect(await count()).toBe(2);
    await eventually(async () => {
      await program.get(CatalogService).reload();
      expect(program.get(CatalogService).current().upcoming).toEqual([]);
    }, 10_000);
    expect(inputIn(program)).toBe(3_000_000_000n);
    // The same file again, and one without a time: they say what is in force.
    expect(await apply(entry('3', `valid_from: "${soon}"`))).toEqual([]);
    expect(await apply(entry('3'))).toEqual([]);
  });

  it('are not made twice by the same file, and are taken back by another of the same time', async () => {
    await apply(entry('1'));
    const time = inHours(2);
    await apply(entry('3', `valid_from: ${time}`));
    expect(await apply(entry('3', `valid_from: ${time}`))).toEqual([]);
    expect(await apply(entry('1'))).toEqual([]);
    expect(await apply(entry('1', `valid_from: ${time}`))).toHaveLength(1);
    expect(await count()).toBe(3);
    await reload();
    clock.laterMs = 3 * HOUR_MS;
    expect(inputIn(program)).toBe(1_000_000_000n);
  });

  it('begin at once when their time is past', async () => {
    await apply(entry('1'));
    expect(await apply(entry('3', 'valid_from: 2020-01-01'))).toEqual([
      'model m: prices input 1, output 2 → input 3, output 2',
    ]);
    await reload();
    expect(inputIn(program)).toBe(3_000_000_000n);
  });

  it('let a model begin with its first prices', async () => {
    const time = inHours(2);
    expect(await apply(entry('1', `valid_from: ${time}`))).toEqual(['model m: added']);
    await reload();
    expect(inputIn(program)).toBeUndefined();
    const text = await exported();
    expect(text).toContain(`valid_from: ${time}`);
    expect(await apply(text)).toEqual([]);
    clock.laterMs = DAY_MS;
    expect(inputIn(program)).toBe(1_000_000_000n);
  });

  it('are named by an export, which changes nothing when it is applied', async () => {
    await apply(entry('1', 'service_tiers: { priority: 2 }, tool_fees: { web_search: 0.01 }'));
    const time = inHours(2);
    await apply(entry('3', `valid_from: ${time}`));
    const text = await exported();
    expect(text).toContain(`#   model m from ${time}: input 3, output 2`);
    expect(await apply(text)).toEqual([]);
    expect(await exported()).toBe(text);
  });
});

describe('what a group charges for single models', () => {
  it('is stored, exported, told when it changes, and gone when a file leaves it out', async () => {
    const database = await freshDatabase();
    const config = Config.fromEnvironment({ DATABASE_URL: database.url, SECRET_KEY: 'k'.repeat(32) });
    const program = await Test.createTestingModule({
      imports: [ConfigModule, DatabaseModule, CatalogModule, ChannelsModule],
    })
      .overrideProvider(Config)
      .useValue(config)
      .compile();
    await program.init();
    const apply = (text: string): Promise<readonly string[]> =>
      program.get(CatalogImport).apply(text, { fileName: 'f', prune: false, protocols: new Map() });
    const file = (fields: string): string => `groups: [{ name: saver, multiplier: 0.8, ${fields} }]
models: [{ name: m, context_window: 1000, max_output_tokens: 100, capabilities: [reasoning], prices: free }]`;
    await apply(file('models: { m: 0.9 }'));
    await program.get(CatalogService).reload();
    const { groups, models } = program.get(CatalogService).current();
    expect(groups.get('saver')?.modelMultipliers).toEqual(new Map([['m', 900_000n]]));
    expect(models.get('m')?.hiddenTokensPerSecond).toBe(150);
    const { text } = await program.get(CatalogExport).export();
    expect(await apply(text)).toEqual([]);
    expect(await apply(file('models: { m: 0.5 }'))).toEqual(['group saver: models m × 0.9 → m × 0.5']);
    expect(await apply(file(''))).toEqual(['group saver: models m × 0.5 → (none)']);
    await apply(file('').replace('[reasoning]', '[]'));
    await program.get(CatalogService).reload();
    expect(program.get(CatalogService).current().models.get('m')?.hiddenTokensPerSecond).toBe(0);
    await program.close();
    await database.drop();
  });
});
