/** Two accounts on a database of the test's own, for specs of the keys that people make for themselves. */

import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { CatalogService } from '../../src/catalog/index.js';
import { CatalogImport, ChannelsModule } from '../../src/catalog/channels/index.js';
import { type KeySettings, KeysModule, OwnKeys } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { UsageModule } from '../../src/usage/index.js';
import { freshDatabase, type TestDatabase } from './database.js';
import { startOn } from './modules.js';

export const DAY_MS = 24 * 60 * 60 * 1000;
export const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

const CATALOG = `
groups:
  - { name: default, multiplier: 1 }
  - { name: saver, multiplier: 0.8 }
models:
  - { name: large, context_window: 1000, max_output_tokens: 100, groups: [default, saver], prices: free }
  - { name: small, context_window: 1000, max_output_tokens: 100, groups: [default], prices: free }
channels:
  - { name: one, protocol: responses, base_url: https://one.example, credentials: [x], groups: [default, saver], models: { large: l, small: s } }
`;

export interface Person {
  readonly accountId: string;
  readonly groupName: string | undefined;
}

/** All of it differs for each test. */
export interface OwnKeysWorld {
  readonly app: TestingModule;
  readonly keys: OwnKeys;
  readonly sql: DataSource;
  readonly ann: Person;
  /** In another group than Ann. */
  readonly bob: Person;
  /** Makes a key; gives its id. */
  readonly aKey: (settings?: Partial<KeySettings>, person?: Person) => Promise<string>;
  /** A key as its owner names it to the service; Ann's if nobody is given. */
  readonly of: (id: string, person?: Person) => { readonly accountId: string; readonly id: string };
}

/** For a spec file: started before each test, and stopped behind it. */
export function useOwnKeys(): OwnKeysWorld {
  let database: TestDatabase;
  let app: TestingModule;
  let keys: OwnKeys;
  let sql: DataSource;
  let ann: Person;
  let bob: Person;

  const someone = async (email: string, groupName?: string): Promise<Person> => {
    const { id } = await app.get(Onboarding).createAccount({ email, ...(groupName !== undefined && { groupName }) });
    return { accountId: id, groupName };
  };
  const aKey = async (settings: Partial<KeySettings> = {}, person = ann): Promise<string> =>
    (await keys.create(person, { name: 'key', ...settings })).id;
  const of = (id: string, { accountId } = ann) => ({ accountId, id });

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [KeysModule, ChannelsModule, OnboardingModule, UsageModule]);
    keys = app.get(OwnKeys);
    sql = app.get(DataSource);
    const protocols = new Map([['responses', 'bearer']] as const);
    await app.get(CatalogImport).apply(CATALOG, { fileName: 'test.yaml', prune: false, protocols });
    await app.get(CatalogService).reload();
    [ann, bob] = [await someone('ann@example.com'), await someone('bob@example.com', 'saver')];
    await sql.query(`SELECT create_call_partitions(now() - interval '40 days', 3)`);
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  return {
    get app() {
      return app;
    },
    get keys() {
      return keys;
    },
    get sql() {
      return sql;
    },
    get ann() {
      return ann;
    },
    get bob() {
      return bob;
    },
    aKey,
    of,
  };
}
