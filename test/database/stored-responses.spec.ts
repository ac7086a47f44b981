import type { TestingModule } from '@nestjs/testing';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { AccountService } from '../../src/auth/index.js';
import { ApiKeyService, KeysModule, OwnKeys } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { Clock, Secret } from '../../src/platform/shared/index.js';
import {
  type ResponseOwner,
  type NewStoredResponse,
  StoredResponseLimits,
  StoredResponses,
  StoredResponsesModule,
  StoredResponseSweep,
} from '../../src/relay/stored-responses/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { HeldClock } from '../support/held-clock.js';
import { startOn } from '../support/modules.js';

const DAY_S = 24 * 60 * 60;
const MARKER = 'a prompt that nobody else may read';

class SmallResponseLimits extends StoredResponseLimits {
  override readonly maxTextLength = 5000;
  override readonly maxSealedBytes = 1000;
  override readonly maxReferencedLength = 9000;
  override readonly maxPerKey = 3;
  override readonly maxSealedBytesPerKey = 2000;
  override readonly maxOriginsPerKey = 2;
}

const aResponse = (id: string, overrides: Partial<NewStoredResponse> = {}): NewStoredResponse => ({
  id,
  callId: id.replace('resp', 'req'),
  channelId: 'chn_1',
  credentialId: null,
  itemIds: [`msg_of_${id}`],
  content: { input: JSON.stringify([MARKER]), response: JSON.stringify({ id }) },
  ...overrides,
});

/** That does not get shorter by compression. */
const noise = (bytes: number): string => JSON.stringify(randomBytes(bytes).toString('base64'));

describe('stored responses', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let responses: StoredResponses;
  let sql: DataSource;
  let clock: HeldClock;
  let ann: ResponseOwner;

  const aKey = async (accountId = ann.accountId): Promise<ResponseOwner> => {
    const { id, secret } = await app.get(ApiKeyService).create({ accountId, name: 'key' });
    return { keyId: id, accountId, secret };
  };
  const ids = async (): Promise<readonly string[]> => {
    const rows = await sql.query<{ id: string }[]>('SELECT id FROM stored_answers ORDER BY id');
    return rows.map(({ id }) => id);
  };
  const keep = async (
    id: string,
    overrides: Partial<NewStoredResponse> = {},
    owner = ann,
  ): Promise<Date | undefined> => {
    clock.pass(1);
    return responses.store(owner, aResponse(id, overrides));
  };

  beforeEach(async () => {
    database = await freshDatabase();
    clock = new HeldClock();
    app = await startOn(database, [KeysModule, OnboardingModule, StoredResponsesModule], (builder) =>
      builder
        .overrideProvider(Clock)
        .useValue(clock)
        .overrideProvider(StoredResponseLimits)
        .useValue(new SmallResponseLimits()),
    );
    responses = app.get(StoredResponses);
    sql = app.get(DataSource);
    const { id: accountId } = await app.get(Onboarding).createAccount({ email: 'ann@example.com' });
    const { id: keyId, secret } = await app.get(ApiKeyService).create({ accountId, name: 'key' });
    ann = { keyId, accountId, secret };
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('are found by their id and by the ids of their items', async () => {
    const until = await keep('resp_1', { itemIds: ['msg_1', 'fc_1'] });
    const kept = { ...aResponse('resp_1'), expiresAt: until };
    const { callId: _, itemIds: __, ...found } = kept;
    await expect(responses.find(ann, 'resp_1')).resolves.toEqual(found);
    const ofItems = await responses.ofItems(ann, ['fc_1', 'msg_none', 'msg_1']);
    expect([...ofItems.keys()].toSorted()).toEqual(['fc_1', 'msg_1']);
    expect(ofItems.get('fc_1')).toEqual(found);
    expect(ofItems.get('fc_1')).toBe(ofItems.get('msg_1'));
    await expect(responses.ofItems(ann, [])).resolves.toEqual(new Map());
  });

  it('are the latest where several have an item of the same id', async () => {
    for (const id of ['resp_1', 'resp_2']) await keep(id, { itemIds: ['msg_0', 'msg_0'] });
    expect((await responses.ofItems(ann, ['msg_0'])).get('msg_0')?.id).toBe('resp_2');
  });

  it('are not there for another key, be it of the same account (case 78)', async () => {
    await keep('resp_1');
    const other = await aKey();
    await expect(responses.find(other, 'resp_1')).resolves.toBeUndefined();
    await expect(responses.ofItems(other, ['msg_of_resp_1'])).resolves.toEqual(new Map());
    await expect(responses.delete(other, 'resp_1')).resolves.toBe(false);
    await expect(ids()).resolves.toEqual(['resp_1']);
  });

  it('are not there for another secret, whatever it says of its key', async () => {
    await keep('resp_1');
    const pretender = { ...ann, secret: new Secret('sk-of-somebody-who-has-the-database') };
    await expect(responses.find(pretender, 'resp_1')).resolves.toBeUndefined();
    await expect(responses.ofItems(pretender, ['msg_of_resp_1'])).resolves.toEqual(new Map());
  });

  it('stand in the database without a word of theirs', async () => {
    await keep('resp_1');
    const [{ row } = { row: '' }] = await sql.query<{ row: string }[]>(
      `SELECT stored_answers::text || encode(sealed, 'escape') AS row FROM stored_answers`,
    );
    expect(row).toContain('resp_1');
    expect(row).not.toContain('prompt');
    expect(row).not.toContain(Buffer.from('prompt').toString('hex'));
    expect(row).not.toContain(ann.secret.reveal());
  });

  it('are kept for a day', async () => {
    const until = await keep('resp_1');
    expect(until?.getTime()).toBe(clock.now() + DAY_S * 1000);
    clock.pass(DAY_S - 1);
    await app.get(StoredResponseSweep, { strict: false }).sweep();
    await expect(responses.find(ann, 'resp_1')).resolves.toBeDefined();
    await expect(responses.expiryOfCall(ann.accountId, 'req_1')).resolves.toEqual(until);
    clock.pass(1);
    await expect(responses.find(ann, 'resp_1')).resolves.toBeUndefined();
    await expect(responses.ofItems(ann, ['msg_of_resp_1'])).resolves.toEqual(new Map());
    await expect(responses.expiryOfCall(ann.accountId, 'req_1')).resolves.toBeUndefined();
    await expect(ids()).resolves.toEqual(['resp_1']);
    await app.get(StoredResponseSweep, { strict: false }).sweep();
    await expect(ids()).resolves.toEqual([]);
  });

  it('are no larger than they may be, as texts and when they are sealed', async () => {
    const large = { input: noise(1000), response: '{}' };
    await expect(keep('resp_1', { content: large })).resolves.toBeUndefined();
    const long = { input: JSON.stringify('x'.repeat(5000)), response: '{}' };
    await expect(keep('resp_2', { content: long })).resolves.toBeUndefined();
    await expect(
      keep('resp_3', { content: { ...long, input: JSON.stringify('x'.repeat(4000)) } }),
    ).resolves.toBeDefined();
    await expect(ids()).resolves.toEqual(['resp_3']);
  });

  it('are not recalled for one request when they are too much together', async () => {
    const content = { input: JSON.stringify('x'.repeat(4000)), response: '{}' };
    for (const id of ['resp_1', 'resp_2', 'resp_3']) await keep(id, { content });
    const items = ['msg_of_resp_1', 'msg_of_resp_2', 'msg_of_resp_3'];
    await expect(responses.ofItems(ann, items.slice(1))).resolves.toHaveProperty('size', 2);
    await expect(responses.ofItems(ann, items)).rejects.toMatchObject({ kind: 'request_too_large' });
  });

  it('are limited in number per key: the oldest is removed, and other keys are not affected', async () => {
    const other = await aKey();
    await keep('resp_0', {}, other);
    for (const id of ['resp_1', 'resp_2', 'resp_3', 'resp_4']) await keep(id);
    await expect(ids()).resolves.toEqual(['resp_0', 'resp_2', 'resp_3', 'resp_4']);
    await expect(responses.ofItems(ann, ['msg_of_resp_1'])).resolves.toEqual(new Map());
  });

  it('are limited in bytes per key', async () => {
    const content = { input: noise(700), response: '{}' };
    for (const id of ['resp_1', 'resp_2', 'resp_3']) await keep(id, { content });
    await expect(ids()).resolves.toEqual(['resp_2', 'resp_3']);
  });

  it('are deleted one by one, and by the call that they answered', async () => {
    for (const id of ['resp_1', 'resp_2']) await keep(id);
    await expect(responses.delete(ann, 'resp_1')).resolves.toBe(true);
    await expect(responses.delete(ann, 'resp_1')).resolves.toBe(false);
    await responses.deleteOfCall('acc_of_somebody_else', 'req_2');
    await expect(ids()).resolves.toEqual(['resp_2']);
    await responses.deleteOfCall(ann.accountId, 'req_2');
    await expect(ids()).resolves.toEqual([]);
  });

  it('end with their key, and none is added to it', async () => {
    const other = await aKey();
    await keep('resp_1');
    await keep('resp_2', {}, other);
    await app.get(ApiKeyService).disable(ann.keyId);
    await expect(ids()).resolves.toEqual(['resp_1', 'resp_2']);
    await app.get(ApiKeyService).delete(ann.keyId);
    await expect(ids()).resolves.toEqual(['resp_2']);
    await expect(keep('resp_3')).resolves.toBeUndefined();
    await expect(ids()).resolves.toEqual(['resp_2']);
  });

  it('end when their key is to keep none any more, and none is added to it', async () => {
    await keep('resp_1');
    const owner = await app.get(AccountService).get('ann@example.com');
    const { version } = await app.get(OwnKeys).get({ accountId: ann.accountId, id: ann.keyId });
    await app.get(OwnKeys).change({ accountId: ann.accountId, groupName: owner.groupName }, ann.keyId, version, {
      name: 'key',
      neverStores: true,
    });
    await expect(ids()).resolves.toEqual([]);
    await expect(keep('resp_2')).resolves.toBeUndefined();
  });

  it('are not added while their key is being deleted', async () => {
    const deleting = sql.createQueryRunner();
    await deleting.startTransaction();
    await deleting.query(`UPDATE api_keys SET state = 'deleted' WHERE id = $1`, [ann.keyId]);
    const keeping = keep('resp_1');
    await Promise.race([keeping, delay(300)]);
    await deleting.commitTransaction();
    await deleting.release();
    await expect(keeping).resolves.toBeUndefined();
    await expect(ids()).resolves.toEqual([]);
  });

  describe('that a channel keeps', () => {
    it('are known by their channel alone, for as long as their vendor keeps them', async () => {
      const until = await keep('resp_1', { content: undefined });
      await expect(responses.find(ann, 'resp_1')).resolves.toEqual({
        id: 'resp_1',
        channelId: 'chn_1',
        credentialId: null,
        content: undefined,
        expiresAt: until,
      });
      expect(until?.getTime()).toBe(clock.now() + 30 * DAY_S * 1000);
      await expect(responses.expiryOfCall(ann.accountId, 'req_1')).resolves.toBeUndefined();
    });

    it('are limited in number per key, separately from stored responses', async () => {
      await keep('resp_here');
      for (let number = 100; number < 164; number += 1) await keep(`resp_${number}`, { content: undefined });
      await expect(ids()).resolves.toEqual(['resp_162', 'resp_163', 'resp_here']);
    });
  });
});
