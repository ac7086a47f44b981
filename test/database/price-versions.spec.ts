import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { actingAs, COMMAND_LINE } from '../../src/platform/audit/index.js';
import { CatalogModule, type CatalogModel, CatalogService } from '../../src/catalog/index.js';
import { CatalogExport, CatalogImport, ChannelsModule } from '../../src/catalog/channels/index.js';
import { Config, ConfigModule } from '../../src/platform/config/index.js';
import { DatabaseModule } from '../../src/platform/database/index.js';
import { Clock } from '../../src/platform/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { testingModule } from '../support/modules.js';

/** The time of day, and so much later. */
class OffsetClock extends Clock {
  laterMs = 0;

  override now(): number {
    return super.now() + this.laterMs;
  }
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('versions of prices', () => {
  let database: TestDatabase;
  let clock: OffsetClock;
  let program: TestingModule;
  let elsewhere: TestingModule;

  const boot = async (): Promise<TestingModule> => {
    const config = Config.fromEnvironment({ DATABASE_URL: database.url, SECRET_KEY: 'k'.repeat(32) });
    const imports = [ConfigModule, DatabaseModule, CatalogModule, ChannelsModule];
    const module = await testingModule(config, { imports }, (builder) =>
      builder.overrideProvider(Clock).useValue(clock),
    );
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
    [database, clock] = [await freshDatabase(), new OffsetClock()];
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

  it('stand in an export, which changes nothing when it is applied, and makes the same of an empty database', async () => {
    await apply(entry('1', 'service_tiers: { priority: 2 }, tool_fees: { web_search: 0.01 }'));
    const [first, second] = [inHours(2), inHours(3)];
    await apply(entry('3', `valid_from: ${first}`));
    await apply(entry('4', `valid_from: ${second}, request_fee: 0.5`));
    const text = await exported();
    expect(text).toContain(`upcoming:
      - valid_from: ${first}
        prices:
          - { from_prompt_tokens: 0, input: 3, output: 2 }
      - valid_from: ${second}
        request_fee: 0.5
        prices:
          - { from_prompt_tokens: 0, input: 4, output: 2 }`);
    expect(await apply(text)).toEqual([]);
    await Promise.all([program, elsewhere].map((one) => one.close()));
    await database.drop();
    database = await freshDatabase();
    [program, elsewhere] = [await boot(), await boot()];
    await apply(text);
    expect(await exported()).toBe(text);
  });

  it('are taken back by a file that lists those that begin later and leaves one out', async () => {
    const [first, second] = [inHours(2), inHours(3)];
    const later = (time: string, input: string): string =>
      `{ valid_from: ${time}, prices: [{ input: ${input}, output: 2 }] }`;
    await apply(entry('1', `upcoming: [${later(first, '3')}, ${later(second, '4')}]`));
    expect(await apply(entry('1', `upcoming: [${later(second, '4')}]`))).toEqual([
      `model m: prices input 3, output 2 withdrawn from ${first}`,
    ]);
    await reload();
    clock.laterMs = 2.5 * HOUR_MS;
    expect(inputIn(program)).toBe(1_000_000_000n);
    clock.laterMs = 3 * HOUR_MS;
    expect(inputIn(program)).toBe(4_000_000_000n);
    clock.laterMs = 0;
    expect(await apply(entry('1', `upcoming: [${later(first, '3')}]`))).toEqual([
      `model m: prices input 1, output 2 → input 3, output 2 from ${first}`,
      `model m: prices input 4, output 2 withdrawn from ${second}`,
    ]);
    expect(await apply(entry('1', 'upcoming: []'))).toHaveLength(1);
    expect(await exported()).not.toContain('upcoming');
  });

  it('are never taken back once they have begun', async () => {
    await apply(entry('1'));
    await apply(entry('2'));
    await apply(entry('2', 'upcoming: []'));
    const sql = program.get(DataSource);
    const withdrawals = async (): Promise<unknown[]> => sql.query('SELECT * FROM price_withdrawals');
    expect(await withdrawals()).toEqual([]);
    await apply(entry('2', `upcoming: [{ valid_from: ${inHours(1)}, prices: free }]`));
    await apply(entry('2', 'upcoming: []'));
    expect(await withdrawals()).toHaveLength(1);
    await expect(sql.query('DELETE FROM price_withdrawals')).rejects.toThrow('append-only');
  });

  it('of a file that is older than what it announces are those in force that it announced last', async () => {
    const announced = (time: string, input: string): string =>
      `{ valid_from: ${time}, prices: [{ input: ${input}, output: 2 }] }`;
    const past = ['2020-01-01', '2021-01-01'];
    await apply(entry('1', `upcoming: [${announced(past[0]!, '3')}, ${announced(past[1]!, '4')}]`));
    await reload();
    expect(inputIn(program)).toBe(4_000_000_000n);
    expect(await count()).toBe(1);
  });

  it('must be in the order in which they begin, each later than the model', async () => {
    const free = (time: string): string => `{ valid_from: ${time}, prices: free }`;
    await expect(apply(entry('1', `upcoming: [${free('2031-01-01')}, ${free('2030-01-01')}]`))).rejects.toThrow(
      'models[0].upcoming must be sorted by valid_from, ascending',
    );
    await expect(apply(entry('1', `valid_from: 2031-01-01, upcoming: [${free('2030-01-01')}]`))).rejects.toThrow(
      'models[0].upcoming[0].valid_from must be later than valid_from of the model',
    );
  });

  it('are counted for each model in the order in which they were made, and say who made them', async () => {
    await apply(entry('1'));
    await apply(entry('3', `valid_from: ${inHours(2)}`));
    await actingAs(COMMAND_LINE, () => apply(entry('2')));
    const versions = await program.get(DataSource).query('SELECT number, author FROM price_versions ORDER BY number');
    expect(versions).toEqual([
      { number: 1, author: null },
      { number: 2, author: null },
      { number: 3, author: 'Command line' },
    ]);
  });
});

describe('prices of a group for single models', () => {
  it('is stored, exported, told when it changes, and gone when a file leaves it out', async () => {
    const database = await freshDatabase();
    const config = Config.fromEnvironment({ DATABASE_URL: database.url, SECRET_KEY: 'k'.repeat(32) });
    const imports = [ConfigModule, DatabaseModule, CatalogModule, ChannelsModule];
    const program = await testingModule(config, { imports });
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
