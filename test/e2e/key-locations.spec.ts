import type { TestingModule } from '@nestjs/testing';
import { AccountStatus, AuthModule } from '../../src/auth/index.js';
import { Config } from '../../src/platform/config/index.js';
import { ApiKeyService, KeysModule } from '../../src/keys/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { expectError, INVALID_TOKEN } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { startOn } from '../support/modules.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import type { ProtocolEndpoint } from '../support/scripted-upstream.js';
import { sendRaw } from '../support/wire.js';

const STRANGER = `sk-${'0'.repeat(48)}`;

describe('where a key is looked for (case 109, §6.1)', () => {
  let relay: RelayApp;
  let one: TestCaller;
  let other: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    [one, other] = await Promise.all([relay.caller(), relay.caller()]);
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const ask = (protocol: ProtocolEndpoint, headers: readonly string[], query = ''): Promise<Response> =>
    sendRaw(`${relay.url}${PATHS[protocol]}${query}`, { headers, body: JSON.stringify(aRequest(protocol)) });

  /** The words of tests, with the keys of callers who exist only later. */
  const filled = (texts: readonly string[]): string[] =>
    texts.map((text) => text.replace('ONE', one.key).replace('OTHER', other.key).replace('STRANGER', STRANGER));

  describe.each(PROTOCOLS)('on %s', (protocol) => {
    it.each<[string, string[], 'one' | 'other']>([
      ['Authorization alone', ['authorization', 'Bearer ONE'], 'one'],
      ['a lower-case scheme', ['authorization', 'bearer ONE'], 'one'],
      ['an upper-case scheme', ['AUTHORIZATION', 'BEARER ONE'], 'one'],
      ['x-api-key alone', ['x-api-key', 'ONE'], 'one'],
      ['api-key alone', ['api-key', 'ONE'], 'one'],
      ['both the same', ['authorization', 'Bearer ONE', 'x-api-key', 'ONE'], 'one'],
      ['all three the same', ['api-key', 'ONE', 'x-api-key', 'ONE', 'authorization', 'Bearer ONE'], 'one'],
      ['a stranger in x-api-key', ['authorization', 'Bearer ONE', 'x-api-key', 'STRANGER'], 'one'],
      ['a stranger in Authorization', ['authorization', 'Bearer STRANGER', 'x-api-key', 'ONE'], 'one'],
      ['strangers in two', ['authorization', 'Bearer STRANGER', 'x-api-key', 'STRANGER', 'api-key', 'ONE'], 'one'],
      ['two of ours: the first', ['x-api-key', 'OTHER', 'authorization', 'Bearer ONE'], 'one'],
      ['two of ours without Authorization: the first', ['api-key', 'ONE', 'x-api-key', 'OTHER'], 'other'],
    ])('%s is enough, and goes no further', async (_, headers, which) => {
      const response = await ask(protocol, filled(headers));
      expect(response.status).toBe(200);
      const { rawHeaders } = await relay.upstream.nextRequest();
      const sent = rawHeaders.join('\n');
      for (const { key } of [one, other]) expect(sent).not.toContain(key);
      expect(sent).not.toContain(STRANGER);
      expect(sent).toContain(`upstream-secret-of-${protocol}`);
      const used = which === 'one' ? one : other;
      const rows = await relay.calls(used);
      expect(rows.at(-1)).toMatchObject({ id: response.headers.get('x-request-id'), key_id: used.keyId });
    });

    it.each<[string, string[], RegExp]>([
      ['nothing', [], /missing API key/],
      ['the scheme alone', ['authorization', 'Bearer'], /no API key after/],
      ['the scheme and a blank', ['authorization', 'Bearer '], /no API key after/],
      ['an empty Authorization', ['authorization', ''], /Authorization header is empty/],
      ['an empty x-api-key', ['x-api-key', ''], /x-api-key header is empty/],
      ['an empty api-key', ['api-key', ''], /api-key header is empty/],
      ['two blanks', ['authorization', 'Bearer  ONE'], /more than one space/],
      ['something behind the key', ['authorization', 'Bearer ONE x'], /unexpected text after the key/],
      ['two keys', ['authorization', 'Bearer ONE OTHER'], /unexpected text after the key/],
      ['the key alone', ['authorization', 'ONE'], /has no "Bearer"/],
      ['another scheme', ['authorization', 'Basic ONE'], /scheme is Basic/],
      ['the scheme twice', ['authorization', 'Bearer Bearer ONE'], /contains "Bearer" twice/],
      ['double quotes', ['authorization', 'Bearer "ONE"'], /quotation marks/],
      ['single quotes', ['authorization', "Bearer 'ONE'"], /quotation marks/],
      ['quotes in x-api-key', ['x-api-key', '"ONE"'], /quotation marks.*x-api-key/],
      ['a tab', ['authorization', 'Bearer\tONE'], /tab/],
      ['a colon', ['authorization', 'Bearer: ONE'], /does not start with "Bearer"/],
      [
        'the header twice',
        ['authorization', 'Bearer ONE', 'authorization', 'Bearer ONE'],
        /duplicate Authorization header/,
      ],
      [
        'two different ones',
        ['authorization', 'Bearer ONE', 'Authorization', 'Bearer OTHER'],
        /duplicate Authorization header/,
      ],
      ['x-api-key twice', ['x-api-key', 'ONE', 'x-api-key', 'OTHER'], /x-api-key header contains spaces/],
      ['a scheme in x-api-key', ['x-api-key', 'Bearer ONE'], /x-api-key header contains spaces/],
      ['a stranger', ['authorization', 'Bearer STRANGER'], /unknown API key/],
      ['only strangers', ['authorization', 'Bearer STRANGER', 'x-api-key', 'sk-x'], /unknown API key/],
      ['the key without its end', ['authorization', 'Bearer SHORT'], /unknown API key/],
      ['a cookie', ['cookie', 'authorization=ONE; key=ONE'], /missing API key/],
    ])('%s is an Invalid token that names the fault and repeats no key', async (_, headers, fault) => {
      const before = await Promise.all([relay.calls(one), relay.calls(other)]);
      const sent = filled(headers).map((text) => text.replace('SHORT', one.key.slice(0, -1)));
      const message = await expectError(protocol, await ask(protocol, sent), INVALID_TOKEN);
      expect(message).toMatch(/^Invalid token: /);
      expect(message).toMatch(fault);
      for (const { key } of [one, other]) expect(message).not.toContain(key.slice(3, 20));
      expect(relay.upstream.requests).toHaveLength(0);
      expect(await Promise.all([relay.calls(one), relay.calls(other)])).toEqual(before);
    });

    it.each(['key', 'api_key', 'api-key', 'apikey', 'access_token', 'token', 'authorization', 'x-api-key'])(
      'a key in the query, as %s, is none',
      async (name) => {
        const response = await ask(protocol, [], `?${name}=${one.key}`);
        expect(await expectError(protocol, response, INVALID_TOKEN)).toMatch(/missing API key/);
      },
    );

    it('a key that we issued and disabled is refused even beside a good one', async () => {
      const disabled = await relay.caller();
      await relay.get(ApiKeyService).disable(disabled.keyId);
      const headers = ['authorization', `Bearer ${disabled.key}`, 'x-api-key', one.key];
      const response = await ask(protocol, headers);
      expect(await expectError(protocol, response, INVALID_TOKEN)).toMatch(/disabled/);
      expect(await relay.onlyCall(disabled)).toMatchObject({ status: 'refused', error_reason: 'Invalid token' });
    });
  });

  describe('a key that this process knows by heart', () => {
    let elsewhere: TestingModule;
    beforeAll(async () => {
      const config = relay.app.get<Config>(Config, { strict: false });
      const url = config.databaseUrl?.reveal() ?? '';
      elsewhere = await startOn({ url, drop: () => Promise.resolve() }, [AuthModule, KeysModule]);
    });
    afterAll(() => elsewhere.close());

    const status = async ({ key }: TestCaller): Promise<number> =>
      (await relay.post('/v1/responses', key, aRequest('responses'))).status;
    const listing = async ({ key }: TestCaller): Promise<number> =>
      (await fetch(`${relay.url}/v1/models`, { headers: { 'x-api-key': key } })).status;

    type Change = (keys: ApiKeyService, accounts: AccountStatus, caller: TestCaller) => Promise<unknown>;
    const changes: [string, Change, Change | undefined][] = [
      ['disabled', (keys, _, { keyId }) => keys.disable(keyId), (keys, _, { keyId }) => keys.enable(keyId)],
      ['deleted', (keys, _, { keyId }) => keys.delete(keyId), undefined],
      [
        'of an account that is disabled',
        (_, accounts, { accountId }) => accounts.disable(accountId),
        (_, accounts, { accountId }) => accounts.enable(accountId),
      ],
    ];
    describe.each(['this process', 'another process'])('changed by %s', (where) => {
      const change = (work: Change, caller: TestCaller): Promise<unknown> => {
        const get = <Service>(token: abstract new (...parts: never[]) => Service): Service =>
          where === 'this process' ? relay.get(token) : elsewhere.get<Service>(token as never);
        return work(get(ApiKeyService), get(AccountStatus), caller);
      };

      it.each(changes)('and %s is refused within a second, and accepted again when it is allowed', async (...row) => {
        const [, spoil, mend] = row;
        const caller = await relay.caller();
        expect([await status(caller), await listing(caller)]).toEqual([200, 200]);
        await change(spoil, caller);
        // A list is answered from the cache alone: no admission is there to look at the row.
        await eventually(async () => expect(await listing(caller)).toBe(401), 1000);
        expect(await status(caller)).toBe(401);
        if (mend === undefined) return;
        await change(mend, caller);
        await eventually(async () => expect(await listing(caller)).toBe(200), 1000);
        expect(await status(caller)).toBe(200);
      });

      it('a key that was unknown a moment ago is known as soon as it exists', async () => {
        const secret = `sk-imported-${Math.random().toString(36).slice(2).padEnd(40, 'x')}`;
        const caller = { ...one, key: secret };
        expect([await listing(caller), await status(caller)]).toEqual([401, 401]);
        await change((keys) => keys.import({ accountId: one.accountId, name: 'late' }, new Secret(secret)), caller);
        await eventually(async () => expect(await listing(caller)).toBe(200), 1000);
        expect(await status(caller)).toBe(200);
      });
    });
  });
});
