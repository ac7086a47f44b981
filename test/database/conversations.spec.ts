import type { TestingModule } from '@nestjs/testing';
import { ApiKeyService, KeysModule } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import {
  Conversations,
  type ResponseOwner,
  StoredResponseLimits,
  StoredResponsesModule,
} from '../../src/relay/stored-responses/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

class SmallLimits extends StoredResponseLimits {
  override readonly maxReferencedLength = 1000;
  override readonly maxConversationsPerKey = 20;
  override readonly maxConversationLengthPerKey = 2000;
}

const items = (...ids: readonly string[]) =>
  ids.map((id) => ({ id, text: JSON.stringify({ id, pad: 'x'.repeat(600) }) }));

describe('conversations', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let conversations: Conversations;
  let owner: ResponseOwner;

  const create = async (): Promise<string> => (await conversations.create(owner, {})).id;

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [KeysModule, OnboardingModule, StoredResponsesModule], (builder) =>
      builder.overrideProvider(StoredResponseLimits).useValue(new SmallLimits()),
    );
    conversations = app.get(Conversations);
    const { id: accountId } = await app.get(Onboarding).createAccount({ email: 'ann@example.com' });
    const { id: keyId, secret } = await app.get(ApiKeyService).create({ accountId, name: 'key' });
    owner = { keyId, accountId, secret };
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('accept items that fit, and one turn of an admitted call', async () => {
    const id = await create();
    const error = { kind: 'request_too_large', message: expect.stringMatching(/^The conversation is full/) };
    await expect(conversations.append(owner, id, items('a', 'b'))).rejects.toMatchObject(error);
    await conversations.append(owner, id, items('a'));
    await expect(conversations.checkSpace(owner, id, 500)).rejects.toMatchObject(error);
    await expect(conversations.append(owner, id, items('b'))).rejects.toMatchObject(error);
    await conversations.appendTurn(owner, id, items('b'));
    await expect(conversations.appendTurn(owner, id, items('c'))).rejects.toMatchObject(error);
    await conversations.deleteItem(owner, id, 'a');
    expect((await conversations.items(owner, id))?.map((item) => item.id)).toEqual(['b']);
    expect(await conversations.item(owner, id, 'b')).toBe(items('b')[0]?.text);
    expect(await conversations.item(owner, id, 'a')).toBeUndefined();
  });

  it('have a total length per key, however many appends run at once', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, create));
    const results = await Promise.allSettled(ids.map((id) => conversations.append(owner, id, items('a'))));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    const other = await app.get(ApiKeyService).create({ accountId: owner.accountId, name: 'other' });
    const others = { ...owner, keyId: other.id, secret: other.secret };
    const { id } = await conversations.create(others, {});
    await expect(conversations.append(others, id, items('a'))).resolves.toBeUndefined();
    await expect(conversations.create(owner, {})).rejects.toMatchObject({ kind: 'invalid_request' });
  });
});
