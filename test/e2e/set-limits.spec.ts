import { AccountService } from '../../src/auth/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { expectError, RATE_LIMITED } from '../support/api-errors.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';

/** How soon every process must follow a change. */
const FOLLOWS_MS = 1000;

describe('limits that are set', () => {
  let relay: RelayApp;
  let other: RelayApp;
  let caller: TestCaller;

  beforeAll(async () => {
    relay = await RelayApp.start();
    other = await RelayApp.start({}, { DATABASE_URL: relay.databaseUrl });
  }, 120_000);
  afterAll(async () => {
    await other.close();
    await relay.close();
  });
  beforeEach(async () => {
    caller = await relay.caller({ group: 'saver' });
  });

  const call = (at: RelayApp): Promise<Response> =>
    at.post(PATHS['chat-completions'], caller.key, aRequest('chat-completions'));
  /** What the process says when it knows that one call a minute is all. */
  const refusal = (at: RelayApp): Promise<string> =>
    eventually(async () => expectError('chat-completions', await call(at), RATE_LIMITED), FOLLOWS_MS);
  const expectUnlimited = (at: RelayApp): Promise<unknown> =>
    eventually(async () => {
      const responses = [await call(at), await call(at)];
      expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    }, FOLLOWS_MS);

  const keyLimits = (requestsPerMinute: number | null) =>
    relay.get(ApiKeyService).setLimits(caller.keyId, { requestsPerMinute });
  const accountLimits = (requestsPerMinute: number | null) =>
    relay.get(AccountService).setLimits(caller.accountId, { requestsPerMinute });
  const file = (text: string) => relay.applyCatalog(text);
  const group = (limits: string) => `groups: [{ name: saver, multiplier: 0.8${limits} }]`;
  const ONE = 'requests_per_minute: 1';

  it.each([
    ['key', () => keyLimits(1), () => keyLimits(null), 'the key “test key” is limited to 1 request per minute.'],
    ['account', () => accountLimits(1), () => accountLimits(null), 'your account is limited to 1 request per minute.'],
    ['group', () => file(group(`, limits: { ${ONE} }`)), () => file(group('')), 'the group “saver”'],
    ['every key', () => file(`limits: { key: { ${ONE} } }`), () => file('limits: { key: {} }'), 'the key “test key”'],
    ['every account', () => file(`limits: { account: { ${ONE} } }`), () => file('limits: { account: {} }'), 'account'],
    ['every address', () => file(`limits: { address: { ${ONE} } }`), () => file('limits: { address: {} }'), 'address'],
  ])('of one %s hold in every process within a second, and are gone as soon', async (_, set, lift, words) => {
    await expectUnlimited(other);
    await set();
    for (const at of [relay, other]) expect(await refusal(at)).toContain(words);
    await lift();
    for (const at of [relay, other]) await expectUnlimited(at);
  });

  it('of its own go before the usual ones', async () => {
    await file(`limits: { key: { ${ONE} } }`);
    await refusal(other);
    await keyLimits(1000);
    await expectUnlimited(other);
    await file('limits: { key: {} }');
  });
});
