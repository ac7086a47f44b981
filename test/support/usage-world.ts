import type { Type } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { ApiKeyService, KeysModule } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { newId } from '../../src/platform/shared/index.js';
import { UsagePagesModule } from '../../src/console/usage/index.js';
import { aCallRow } from './call-rows.js';
import { freshDatabase } from './database.js';
import { startOn } from './modules.js';

export interface Owner {
  readonly accountId: string;
  readonly keyId: string;
}

type CallOverrides = Omit<NonNullable<Parameters<typeof aCallRow>[1]>, 'id' | 'accountId' | 'keyId' | 'createdAt'>;

/** A database with accounts that own keys, in which finished calls are written as settlement leaves them. */
export class UsageWorld {
  private constructor(
    readonly app: TestingModule,
    readonly close: () => Promise<void>,
  ) {}

  static async start(modules: readonly Type[] = []): Promise<UsageWorld> {
    const database = await freshDatabase();
    const app = await startOn(database, [UsagePagesModule, KeysModule, OnboardingModule, ...modules]);
    const world = new UsageWorld(app, async () => {
      await app.close();
      await database.drop();
    });
    await world.sql.query(`SELECT create_call_partitions(now() - interval '13 months', 14)`);
    return world;
  }

  get sql(): DataSource {
    return this.app.get(DataSource);
  }

  get<Provider>(token: abstract new (...parts: never[]) => Provider): Provider {
    return this.app.get<Provider>(token as never, { strict: false });
  }

  async owner(email: string, keyName = 'laptop'): Promise<Owner> {
    const { id: accountId } = await this.get(Onboarding).createAccount({ email });
    return { accountId, keyId: await this.key(accountId, keyName) };
  }

  async key(accountId: string, name: string): Promise<string> {
    return (await this.get(ApiKeyService).create({ accountId, name })).id;
  }

  /** A finished call that began then. Gives its id. */
  async call(owner: Owner, at: Date, overrides: Partial<CallOverrides> = {}): Promise<string> {
    const id = newId('req', at.getTime());
    await aCallRow(this.sql, { ...owner, id, createdAt: at.toISOString(), ...overrides });
    return id;
  }

  /** A call that still runs. Gives its id. */
  async openCall({ accountId, keyId }: Owner, at: Date): Promise<string> {
    const id = newId('req', at.getTime());
    await this.sql.query(
      `INSERT INTO open_calls (id, account_id, key_id, hold, process_id, model, created_at, group_name, protocol, stream,
         effort, ip, snapshot) VALUES ($1, $2, $3, 0, 'prs_x', 'gpt-5.5', $4, 'default', 'responses', true, '', '', '{}')`,
      [id, accountId, keyId, at.toISOString()],
    );
    return id;
  }
}
