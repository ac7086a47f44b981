import { DataSource } from 'typeorm';
import { ApiKeyService } from '../../src/keys/index.js';
import { expectError, expectFreeRow, NOT_ALLOWED } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import type { ProtocolEndpoint } from '../support/scripted-upstream.js';
import { sendRaw } from '../support/wire.js';

const OFFICE = ['203.0.113.0/24', '2001:db8:1::/48'];
/** How soon every process must follow a change. */
const FOLLOWS_MS = 1000;

describe('a key that may be used from some networks only', () => {
  let relay: RelayApp;
  let other: RelayApp;
  let caller: TestCaller;

  beforeAll(async () => {
    relay = await RelayApp.start({}, { TRUSTED_PROXIES: '127.0.0.1' });
    other = await RelayApp.start({}, { TRUSTED_PROXIES: '127.0.0.1', DATABASE_URL: relay.databaseUrl });
    await relay.applyCatalog('groups: []');
  }, 120_000);
  afterAll(async () => {
    await other.close();
    await relay.close();
  });
  beforeEach(async () => {
    caller = await relay.caller();
  });

  const allow = async (...networks: string[]): Promise<void> => {
    await relay.get(ApiKeyService).setLimits(caller.keyId, {}, networks);
  };
  /** By way of a proxy that says whom it comes from. */
  const from = (address: string): string[] => [
    'authorization',
    `Bearer ${caller.key}`,
    'x-forwarded-for',
    address,
    'connection',
    'close',
  ];
  const call = (address: string, at = relay, protocol: ProtocolEndpoint = 'chat-completions'): Promise<Response> =>
    sendRaw(`${at.url}${PATHS[protocol]}`, { headers: from(address), body: JSON.stringify(aRequest(protocol)) });
  const statusFrom = async (address: string, at = relay): Promise<number> => (await call(address, at)).status;
  const expectSoon = (status: number, address: string): Promise<unknown> =>
    eventually(async () => {
      expect([await statusFrom(address), await statusFrom(address, other)]).toEqual([status, status]);
    }, FOLLOWS_MS);

  it.each(PROTOCOLS)(
    'is refused elsewhere in %s before the body is read, and the refusal is on record',
    async (protocol) => {
      await allow(...OFFICE);
      await expectSoon(403, '198.51.100.9');
      await relay.get(DataSource).query('DELETE FROM calls WHERE account_id = $1', [caller.accountId]);
      const response = await sendRaw(`${relay.url}${PATHS[protocol]}`, {
        headers: from('198.51.100.9'),
        announced: 1_000_000,
      });
      const message = await expectError(protocol, response, NOT_ALLOWED);
      expect(message).toBe(
        'Your IP address 198.51.100.9 is not allowed for this key. Call from an allowed network, or add this address to the networks of the key.',
      );
      await expectFreeRow(relay, caller, response, {
        status: 'refused',
        error_reason: NOT_ALLOWED.reason,
        ip: '198.51.100.9',
        protocol,
      });
    },
  );

  it('works from each of them, in any notation of the address', async () => {
    await allow(...OFFICE);
    await expectSoon(403, '198.51.100.9');
    for (const address of ['203.0.113.7', '::ffff:203.0.113.255', '2001:db8:1:ffff::9', '2001:DB8:1::1'])
      expect([address, await statusFrom(address)]).toEqual([address, 200]);
    // The proxy speaks for the last address alone, and what it cannot be read as is in no network.
    for (const address of ['2001:db8:2::1', '203.0.112.255', '203.0.113.7, 198.51.100.9', 'unknown', '203.0.113.7:80'])
      expect([address, await statusFrom(address)]).toEqual([address, 403]);
  });

  it('tells nothing about itself elsewhere either, and leaves no row for asking', async () => {
    await allow(...OFFICE);
    await expectSoon(403, '198.51.100.9');
    await relay.get(DataSource).query('DELETE FROM calls WHERE account_id = $1', [caller.accountId]);
    for (const path of ['/v1/key', '/v1/models', '/v1/generations/req_1']) {
      const ask = (address: string): Promise<Response> =>
        sendRaw(`${relay.url}${path}`, { method: 'GET', headers: from(address) });
      const text = await expectError('chat-completions', await ask('198.51.100.9'), NOT_ALLOWED);
      expect(text).not.toContain('203.0.113');
      expect((await ask('203.0.113.7')).status).not.toBe(403);
    }
    expect(await relay.calls(caller)).toEqual([]);
  });

  it('follows a change of its networks in every process within a second', async () => {
    await expectSoon(200, '198.51.100.9');
    await allow(...OFFICE);
    await expectSoon(403, '198.51.100.9');
    await allow(...OFFICE, '198.51.100.9');
    await expectSoon(200, '198.51.100.9');
    await allow('198.51.100.8');
    await expectSoon(403, '198.51.100.9');
    await allow();
    await expectSoon(200, '198.51.100.9');
  });
});
