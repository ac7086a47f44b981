import { DataSource } from 'typeorm';
import { AccountStatus } from '../../src/auth/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import {
  expectError,
  expectFreeRow,
  INSUFFICIENT_QUOTA,
  INVALID_REQUEST,
  INVALID_TOKEN,
  MODEL_NOT_FOUND,
  NOT_ALLOWED,
  OVERLOADED,
  type Situation,
} from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { type CallerOptions, RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn, type ProtocolEndpoint, gate, waitFor } from '../support/scripted-upstream.js';

/** A model that no other protocol's channel serves, for each protocol; the test's catalog has one for Chat Completions only. */
const oneProtocolEach = (baseUrl: string): string => `
models:
${PROTOCOLS.map((protocol) => `  - { name: just-${protocol}, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }`).join('\n')}
channels:
${PROTOCOLS.map((protocol) => `  - { name: just-${protocol}, protocol: ${protocol}, base_url: "${baseUrl}", credentials: [x], flags: { nativeOnly: true }, models: { just-${protocol}: up } }`).join('\n')}
`;

describe('R11: errors that a call meets before it goes up (case 95)', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(oneProtocolEach(relay.upstream.url));
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const call = (protocol: ProtocolEndpoint, key: string, overrides = {}): Promise<Response> =>
    relay.post(PATHS[protocol], key, aRequest(protocol, overrides));

  /** All rows there are, of whatever account, open ones included. */
  async function countRows(): Promise<number> {
    const [row] = await relay
      .get(DataSource)
      .query<{ rows: string }[]>(
        'SELECT (SELECT count(*) FROM calls) + (SELECT count(*) FROM open_calls) + (SELECT count(*) FROM call_attempts) AS rows',
      );
    return Number(row?.rows);
  }

  describe.each(PROTOCOLS)('of %s', (protocol) => {
    it.each([
      ['no key', {}, /missing API key/],
      ['an unknown key', { authorization: `Bearer sk-${'x'.repeat(48)}` }, /unknown API key/],
      ['a scheme that is not ours', { authorization: 'Basic dXNlcjpwYXNz' }, /scheme is Basic/],
    ])('a stranger with %s is refused and leaves no row', async (_, headers, fault) => {
      const before = await countRows();
      const response = await fetch(`${relay.url}${PATHS[protocol]}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(aRequest(protocol)),
      });
      const message = await expectError(protocol, response, INVALID_TOKEN);
      expect(message).toMatch(/^Invalid token: /);
      expect(message).toMatch(fault);
      expect(relay.upstream.requests).toHaveLength(0);
      expect(await countRows()).toBe(before);
    });

    const spoiled: [string, RegExp, (caller: TestCaller) => Promise<TestCaller>][] = [
      [
        'that is disabled',
        /disabled/,
        async (caller) => (await relay.get(ApiKeyService).disable(caller.keyId), caller),
      ],
      ['that was deleted', /deleted/, async (caller) => (await relay.get(ApiKeyService).delete(caller.keyId), caller)],
      [
        'of a disabled account',
        /account of this API key is suspended/,
        async (caller) => (await relay.get(AccountStatus).disable(caller.accountId), caller),
      ],
      [
        'that has expired',
        /expired at 20/,
        async (caller) => {
          const { accountId } = caller;
          const expiresAt = new Date(Date.now() - 1000);
          const { id, secret } = await relay.get(ApiKeyService).create({ accountId, name: 'expired', expiresAt });
          return { ...caller, keyId: id, key: secret.reveal() };
        },
      ],
    ];
    it.each(spoiled)('a key %s is refused, and its owner finds the refusal in the log', async (_, fault, spoil) => {
      const caller = await spoil(await relay.caller());
      const response = await call(protocol, caller.key);
      const message = await expectError(protocol, response, INVALID_TOKEN);
      expect(message).toMatch(/^Invalid token: /);
      expect(message).toMatch(fault);
      await expectFreeRow(relay, caller, response, {
        status: 'refused',
        error_reason: 'Invalid token',
        error_message: message,
        protocol,
        channel: '',
        attempts: 0,
      });
      expect(relay.upstream.requests).toHaveLength(0);
    });

    const other = PROTOCOLS.find((one) => one !== protocol) ?? protocol;
    const models: [string, string, CallerOptions, Situation, RegExp][] = [
      ['that its key may not use', 'free', { models: ['m', 'fee'] }, NOT_ALLOWED, /"free"/],
      ['that does not exist', 'gpt-unheard-of', {}, MODEL_NOT_FOUND, /"gpt-unheard-of".*\/v1\/models/],
      ['of another group', 'saver-only', {}, MODEL_NOT_FOUND, /"saver-only".*group "default"/],
      ['that its group does not have', 'free', { group: 'saver' }, MODEL_NOT_FOUND, /"free".*group "saver"/],
      ['without a channel of this protocol', `just-${other}`, {}, INVALID_REQUEST, new RegExp(`accept only ${other}`)],
      ['without any channel', 'unserved', {}, OVERLOADED, /"unserved"/],
    ];
    it.each(models)('a model %s is refused and named', async (_, model, options, situation, words) => {
      const caller = await relay.caller(options);
      const response = await call(protocol, caller.key, { model });
      const param = situation === OVERLOADED ? null : 'model';
      expect(await expectError(protocol, response, situation, { param })).toMatch(words);
      // Another channel may be there soon.
      expect(response.headers.get('retry-after') === null).toBe(situation !== OVERLOADED);
      await expectFreeRow(relay, caller, response, {
        status: 'refused',
        error_reason: situation.reason,
        model,
        protocol,
        attempts: 0,
      });
      expect(relay.upstream.requests).toHaveLength(0);
    });

    it('a model with a channel of this protocol is not', async () => {
      const caller = await relay.caller();
      expect((await call(protocol, caller.key, { model: `just-${protocol}` })).status).toBe(200);
    });

    it.each<[string, CallerOptions, RegExp]>([
      ['wallet', { credit: '0' }, /^insufficient quota: your wallet has \$0 left and this call needs [^$]*\$0\.0\d+/],
      [
        'key',
        { quota: '0.000001' },
        /^insufficient quota: the quota of the key “test key” has \$0\.000001 left and this call needs [^$]*\$0\.0\d+/,
      ],
    ])('an empty %s is a final refusal that says what is missing (case 100)', async (_, options, words) => {
      for (const stream of [false, true]) {
        const caller = await relay.caller(options);
        const response = await call(protocol, caller.key, { stream });
        expect(await expectError(protocol, response, INSUFFICIENT_QUOTA, { shouldRetry: 'false' })).toMatch(words);
        await expectFreeRow(relay, caller, response, { status: 'refused', error_reason: 'insufficient quota', stream });
        expect(relay.upstream.requests).toHaveLength(0);
      }
    });

    it('money that only running calls hold may be asked for again', async () => {
      const caller = await relay.caller({ credit: '0.03' });
      const held = gate();
      relay.upstream.script([waitFor(held), responseIn(protocol)]);
      const running = call(protocol, caller.key, { model: 'fee' });
      await relay.upstream.nextRequest();
      const response = await call(protocol, caller.key, { model: 'fee' });
      const message = await expectError(protocol, response, INSUFFICIENT_QUOTA, { shouldRetry: 'true' });
      expect(message).toMatch(
        /^insufficient quota: your wallet has \$0\.01 left \(\$0\.02 more is on hold for 1 running call/,
      );
      expect(message).toMatch(/this call needs [^$]*\$0\.02\b/);
      held.open();
      expect((await running).status).toBe(200);
      await eventually(async () => expect(await relay.calls(caller)).toHaveLength(2));
      expect(await relay.wallet(caller)).toEqual({ balance: '0.01', held: '0', holds: 0 });
    });

    it('a key that becomes unusable while its call is on the way is refused all the same', async () => {
      const caller = await relay.caller();
      expect((await call(protocol, caller.key)).status).toBe(200);
      // Behind the back of every cache: only the row itself knows.
      await relay
        .get(DataSource)
        .query("UPDATE api_keys SET state = 'disabled', version = version + 1 WHERE id = $1", [caller.keyId]);
      const response = await call(protocol, caller.key);
      await expectError(protocol, response, INVALID_TOKEN);
      const rows = await relay.calls(caller);
      expect(rows.map(({ status }) => status)).toEqual(['succeeded', 'refused']);
      expect(rows[1]).toMatchObject({ error_reason: 'Invalid token', billing_basis: 'free', cost: '0' });
      expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    });
  });

  it('leaves the ledger exact', async () => {
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });
});
