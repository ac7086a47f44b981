import { Logger } from '@nestjs/common';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { ApiKeyService, InvalidKeyLimits } from '../../src/keys/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { expectError, expectIds, INVALID_TOKEN, RATE_LIMITED } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RelayApp } from '../support/relay-app.js';
import type { ProtocolEndpoint } from '../support/scripted-upstream.js';
import { sendRaw } from '../support/wire.js';

let secrets = 0;
/** A secret that could be ours, and never the same one. */
const aSecret = (): string => `sk-${String((secrets += 1)).padStart(48, '0')}`;

describe('R11: requests with unknown keys', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    relay = await RelayApp.start({}, { TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => relay.close());
  afterEach(() => {
    relay.upstream.reset();
    setLimits(new InvalidKeyLimits());
  });

  const setLimits = (limits: Partial<InvalidKeyLimits>): void =>
    void Object.assign(relay.get(InvalidKeyLimits), limits);

  /** On a connection of its own, by way of a proxy that says whom it comes from. */
  const ask = (protocol: ProtocolEndpoint, key: string, address = '192.0.2.1'): Promise<Response> =>
    sendRaw(`${relay.url}${PATHS[protocol]}`, {
      headers: ['authorization', `Bearer ${key}`, 'x-forwarded-for', address, 'connection', 'keep-alive'],
      body: JSON.stringify(aRequest(protocol)),
    });

  /** How many rows there are of calls, running ones included. */
  const rows = async (): Promise<number> => {
    const [row] = await relay
      .get(DataSource)
      .query<{ rows: number }[]>(
        'SELECT (SELECT count(*) FROM calls)::int + (SELECT count(*) FROM open_calls)::int rows',
      );
    return row?.rows ?? -1;
  };

  /** Strangers of a network who fill its line, and wait there until the limits are the usual ones again. */
  const fillLine = async (address: string): Promise<Promise<Response>[]> => {
    const waitingOfNetwork = 4;
    setLimits({ perSecond: 0.001, waitingOfNetwork });
    // One may be refused at once and one is too many; the others wait.
    const crowd = Array.from({ length: waitingOfNetwork + 2 }, () => ask('responses', aSecret(), address));
    await Promise.any(crowd.map(async (response) => expect((await response).status).toBe(429)));
    return crowd;
  };
  const answered = (responses: readonly Promise<Response>[]): Promise<readonly unknown[]> =>
    Promise.all(
      responses.map((response) => Promise.race([response.then(({ status }) => status), sleep(100, 'waits')])),
    );

  it('leave no rows, whichever key they try and however many they are', async () => {
    const same = aSecret();
    const tries = Array.from({ length: 150 }, (_, index) => (index % 2 === 0 ? same : aSecret()));
    const before = await rows();
    const responses = await Promise.all(
      ['no key', 'sk-short', ...tries].map((key, index) => ask(PROTOCOLS[index % 3] ?? 'messages', key)),
    );
    for (const [index, response] of responses.entries())
      await expectError(PROTOCOLS[index % 3] ?? 'messages', response, INVALID_TOKEN);
    expect(await rows()).toBe(before);
    expect(relay.upstream.requests).toHaveLength(0);
    await (await ask('messages', (await relay.caller()).key)).text();
    expect(await rows()).toBe(before + 1);
  });

  it('wait for their refusal, while good keys of the same address do not: known by heart, new, or just made', async () => {
    const known = await relay.caller();
    expect((await ask('messages', known.key)).status).toBe(200);
    const fresh = await relay.caller();
    const crowd = await fillLine('192.0.2.1');
    const made = await relay.caller();
    for (const { key } of [known, fresh, made])
      for (const protocol of PROTOCOLS) expect((await ask(protocol, key)).status).toBe(200);
    expect((await answered(crowd)).filter((status) => status === 'waits')).toHaveLength(4);
    setLimits(new InvalidKeyLimits());
    const statuses = (await Promise.all(crowd)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(4);
  });

  it('are let in within a second of their key being taken over, whatever waits to be told that there is none', async () => {
    const { accountId } = await relay.caller();
    const secret = aSecret();
    expect((await ask('responses', secret)).status).toBe(401);
    const crowd = await fillLine('192.0.2.1');
    const early = ask('responses', secret, '192.0.2.2');
    await relay.get(ApiKeyService).import({ accountId, name: 'late' }, new Secret(secret));
    // Whoever asks before this process has heard of the key waits like a stranger.
    const tries = Array.from({ length: 10 }, async (_, index) => {
      await sleep(index * 100);
      expect((await ask('responses', secret, `192.0.2.${100 + index}`)).status).toBe(200);
    });
    await Promise.any(tries);
    setLimits(new InvalidKeyLimits());
    await Promise.allSettled([early, ...crowd, ...tries]);
  });

  it.each(PROTOCOLS)('are refused on %s with a retry time when too many wait already', async (protocol) => {
    const crowd = await fillLine('192.0.2.1');
    const before = await rows();
    const response = await ask(protocol, aSecret());
    expect(response.headers.get('connection')).toBe('close');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await expectError(protocol, response, RATE_LIMITED)).toMatch(/invalid API keys/);
    expect(await rows()).toBe(before);
    // The crowd of one network takes no place of another's.
    const other = ask(protocol, aSecret(), '192.0.2.2');
    expect(await answered([other])).toEqual(['waits']);
    setLimits(new InvalidKeyLimits());
    const refused = await other;
    expect(refused.headers.get('connection')).not.toBe('close');
    await expectError(protocol, refused, INVALID_TOKEN);
    await Promise.all(crowd);
  });

  it('are not waited for once they have left', async () => {
    setLimits({ perSecond: 0.001, waitingOfNetwork: 20 });
    const crowd = Array.from({ length: 22 }, () => {
      const headers = { authorization: `Bearer ${aSecret()}`, 'x-forwarded-for': '192.0.2.1' };
      const options = { method: 'POST', headers, agent: false };
      const sent = httpRequest(`${relay.url}/v1/responses`, options).on('error', () => undefined);
      sent.flushHeaders();
      return sent;
    });
    await Promise.any(
      crowd.map(async (sent) => expect(await once(sent, 'response')).toMatchObject([{ statusCode: 429 }])),
    );
    for (const sent of crowd) sent.destroy();
    // A turn for each of them would take forty seconds.
    setLimits({ perSecond: 0.5, waitingOfNetwork: 100 });
    await expectError('responses', await ask('responses', aSecret()), INVALID_TOKEN);
  });

  it('do not fill the log: their first twenty requests of a minute stand there', async () => {
    const lines: unknown[] = [];
    const note = (line: unknown): void => void lines.push(line);
    Logger.overrideLogger({ log: note, warn: note, error: note });
    try {
      const responses = await Promise.all(Array.from({ length: 60 }, () => ask('messages', aSecret(), '203.0.113.1')));
      const ids = responses.map(expectIds);
      expect(new Set(ids).size).toBe(60);
      await ask('messages', 'sk-short', '203.0.113.2');
      const logged = lines.map((line) => (line as { request_id?: string }).request_id ?? '');
      expect(logged.filter((id) => ids.includes(id))).toHaveLength(20);
    } finally {
      Logger.overrideLogger(false);
    }
  });
});
