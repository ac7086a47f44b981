import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { aCallRow } from '../support/call-rows.js';
import { TIMEOUT_MS } from '../support/eventually.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';
import { usedMemory } from '../support/used-memory.js';

const CALLS = 100_000;
const MIB = 1024 * 1024;
/** Less than half of the CSV of so many calls. */
const ALLOWED_BYTES = 6 * MIB;
/** Collecting everything takes time: it is done so often and not for each piece. */
const LOOKED_AT_EVERY = 2 * MIB;

describe('CSV of 100,000 calls', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  let cookie: string;
  beforeAll(async () => {
    relay = await RelayApp.start();
    caller = await relay.caller();
    const { cookies } = await signedIn(relay, caller.accountId);
    cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    // Ten milliseconds apart, up to now.
    await relay.get(DataSource).query(
      `INSERT INTO calls (id, created_at, account_id, key_id, model, group_name, protocol, upstream_protocol, channel,
         stream, effort, status, error_reason, error_message, prompt_tokens, cached_tokens, cache_write_tokens,
         completion_tokens, reasoning_tokens, cost, uncollected, billing_basis, first_token_ms, duration_ms, attempts, ip)
       SELECT 'req_' || lpad(to_hex(n), 32, '0'), now() - make_interval(secs => n / 100.0), $1, $2, 'm', 'default',
         'messages', 'messages', 'main', true, '', 'succeeded', '', '', 1000 + n % 1000, n % 100, 0, n % 500, 0,
         1000000 + n, 0, 'reported', 250, 900 + n % 100, 1, '127.0.0.1'
       FROM generate_series(1, $3::integer) AS n`,
      [caller.accountId, caller.keyId, CALLS],
    );
  }, TIMEOUT_MS);
  afterAll(() => relay.close());

  async function begun(): Promise<IncomingMessage> {
    const [response] = (await once(
      get(`${relay.url}/usage-logs/common.csv?range=24h`, { agent: false, headers: { cookie } }),
      'response',
    )) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    return response;
  }

  const linesIn = (piece: Buffer): number => piece.toString('latin1').split('\n').length - 1;

  it(
    'takes no memory that grows with it',
    async () => {
      let [bytes, lines, looked, most] = [0, 0, 0, 0];
      // The first one has everything made that it needs once.
      for await (const piece of await begun()) bytes += (piece as Buffer).length;
      expect(bytes).toBeGreaterThan(2 * ALLOWED_BYTES);
      const before = usedMemory();
      bytes = 0;
      for await (const piece of await begun()) {
        bytes += (piece as Buffer).length;
        lines += linesIn(piece as Buffer);
        if (bytes < looked + LOOKED_AT_EVERY) continue;
        looked = bytes;
        most = Math.max(most, usedMemory());
      }
      expect(lines).toBe(CALLS + 1);
      expect(most).toBeGreaterThan(0);
      expect(most - before).toBeLessThan(ALLOWED_BYTES);
    },
    2 * TIMEOUT_MS,
  );

  it(
    'waits for slow readers: rows are read from the database only when the client reads them',
    async () => {
      const begunAt = Date.now();
      for await (const _ of await begun());
      const tookMs = Date.now() - begunAt;
      const before = usedMemory();
      const createdAt = new Date().toISOString();
      const response = await begun();
      response.pause();
      // By then all of it could have been read.
      await sleep(2 * tookMs);
      expect(usedMemory() - before).toBeLessThan(ALLOWED_BYTES);
      // The newest of all, of a moment within the range: it comes too, if the end has not been read yet.
      await aCallRow(relay.get(DataSource), { ...caller, id: 'req_late', createdAt });
      let text = '';
      for await (const piece of response) text = (text + (piece as Buffer).toString()).slice(-1000);
      expect(text.trimEnd().split('\n').at(-1)).toContain(',req_late,');
    },
    2 * TIMEOUT_MS,
  );
});
