import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { AdmissionRequest } from '../../src/relay/billing/admission.js';
import type { BillingRepository } from '../../src/relay/billing/billing.repository.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { BillingBench, EXACT } from '../support/billing-bench.js';
import { attemptOf, finished } from '../support/billing-rows.js';

/** How a call may end, each member unlike the others. */
const ENDING = {
  upstream_protocol: 'up',
  channel: 'c1',
  status: 'failed' as const,
  error_reason: 'reason',
  error_message: 'words, "quoted" (and) \\ more\n',
  billing_basis: 'partial' as const,
  first_token_ms: 11,
  duration_ms: 12,
  attempts: 13,
};
/** Of one request to an upstream, likewise. */
const ATTEMPT = {
  ordinal: 7,
  channel: 'c2',
  protocol: 'p2',
  upstream_model: 'm2',
  upstream_status: 201,
  outcome: 'o2',
  headers_ms: 1,
  first_token_ms: 2,
  duration_ms: 3,
  credential: 4,
  reason: 'r2, "quoted"',
  begun_ms: 5,
  connect_ms: 6,
  first_byte_ms: 8,
  cost_version: 'cst_9',
  upstream_cost: '10',
  upstream_request_id: 'up-11',
  transport: 'websocket',
} as const;

describe('admission and settlement', () => {
  let bench: BillingBench;
  let billing: BillingRepository;
  let sql: DataSource;
  let accountId: string;

  beforeEach(async () => {
    bench = await BillingBench.start();
    ({ repository: billing, sql, accountId } = bench);
  });
  afterEach(() => bench.stop());

  const asking = (amount: bigint, overrides?: Partial<AdmissionRequest>): AdmissionRequest =>
    bench.asking(amount, overrides);
  const wallet = (): Promise<unknown> => bench.wallet();
  const checked = (): Promise<unknown> => bench.check();
  const outcomes = async (batch: AdmissionRequest[]): Promise<string[]> =>
    (await billing.admit(batch)).map(({ outcome }) => outcome);

  it('admits call by call in order of arrival: one that does not fit takes nothing from those behind it', async () => {
    const [some, tooMuch, rest, none] = [asking(600_000_000n), asking(500_000_000n), asking(400_000_000n), asking(1n)];
    await expect(outcomes([some, tooMuch, rest, none])).resolves.toEqual(['admitted', 'wallet', 'admitted', 'wallet']);
    await expect(wallet()).resolves.toEqual({ balance: 1_000_000_000n, held: 1_000_000_000n, holds: 2, owed: 0n });
    await expect(checked()).resolves.toEqual(EXACT);
  });

  it('tells a refused call what was free and what running calls hold', async () => {
    await billing.admit([asking(600_000_000n)]);
    const [refused] = await billing.admit([asking(500_000_000n)]);
    expect(refused).toEqual({ outcome: 'wallet', hold: 0n, free: 400_000_000n, onHold: 600_000_000n, holds: 1 });
  });

  it('grants less than was asked for, down to the minimum, and between base and ceiling an eighth of what is free', async () => {
    const wide = { prompt: '1000', minimum: '2000', base: '10000', ceiling: '900000000' };
    const [eighth] = await billing.admit([asking(0n, wide)]);
    expect(eighth).toMatchObject({ outcome: 'admitted', hold: 125_001_000n });
    const [least] = await billing.admit([asking(0n, { minimum: '2000', base: '2000000000', ceiling: '2000000000' })]);
    expect(least).toMatchObject({ outcome: 'admitted', hold: 874_999_000n });
  });

  it('holds against the quota of a key as against the wallet, and says which of the two refused', async () => {
    const small = await bench.key({ quota: parseUsd('0.1') });
    const batch = [asking(60_000_000n, { key_id: small }), asking(60_000_000n, { key_id: small }), asking(60_000_000n)];
    await expect(outcomes(batch)).resolves.toEqual(['admitted', 'key', 'admitted']);
  });

  it('refuses a key or account that was disabled meanwhile, and sends back what is based on old versions', async () => {
    await expect(outcomes([asking(1n, { key_version: 0 })])).resolves.toEqual(['stale']);
    await expect(outcomes([asking(1n, { catalog_version: '0' })])).resolves.toEqual(['stale']);
    await sql.query(`UPDATE accounts SET state = 'disabled'`);
    await expect(outcomes([asking(1n)])).resolves.toEqual(['account_state']);
    await sql.query(`UPDATE api_keys SET expires_at = now()`);
    await expect(outcomes([asking(1n), asking(1n, { key_id: 'key_unknown' })])).resolves.toEqual([
      'key_state',
      'key_state',
    ]);
    await expect(wallet()).resolves.toMatchObject({ held: 0n, holds: 0 });
  });

  it('settles a call: releases the hold, takes the cost, raises the use of the key, writes row, attempts and ledger', async () => {
    const request = asking(500_000_000n);
    await billing.admit([request]);
    await expect(
      billing.settle([finished(request, 30_000_000n, { attempt_rows: [attemptOf(request)] })]),
    ).resolves.toEqual([30_000_000n]);
    await expect(wallet()).resolves.toEqual({ balance: 970_000_000n, held: 0n, holds: 0, owed: 0n });
    const [row] = await sql.query('SELECT cost, uncollected, status FROM calls WHERE id = $1', [request.id]);
    expect(row).toEqual({ cost: '30000000', uncollected: '0', status: 'succeeded' });
    const [tried] = await sql.query('SELECT channel, outcome FROM call_attempts WHERE call_id = $1', [request.id]);
    expect(tried).toEqual({ channel: 'c', outcome: 'succeeded' });
    await expect(sql.query('SELECT used, held FROM api_keys')).resolves.toEqual([{ used: '30000000', held: '0' }]);
    await expect(sql.query('SELECT id FROM open_calls')).resolves.toEqual([]);
    await expect(checked()).resolves.toEqual(EXACT);
  });

  it('settles once: a second settlement of the same call changes nothing (M6)', async () => {
    const request = asking(500_000_000n);
    await billing.admit([request]);
    await expect(billing.settle([finished(request, 30_000_000n)])).resolves.toEqual([30_000_000n]);
    await expect(billing.settle([finished(request, 30_000_000n)])).resolves.toEqual([undefined]);
    await expect(wallet()).resolves.toMatchObject({ balance: 970_000_000n });
    await expect(checked()).resolves.toEqual(EXACT);
  });

  it('collects at most the hold and what is free; the rest is noted as uncollected (M1)', async () => {
    const [one, other] = [asking(300_000_000n), asking(500_000_000n)];
    await billing.admit([one, other]);
    await expect(billing.settle([finished(one, 900_000_000n)])).resolves.toEqual([500_000_000n]);
    await expect(wallet()).resolves.toEqual({ balance: 500_000_000n, held: 500_000_000n, holds: 1, owed: 0n });
    await expect(sql.query('SELECT cost, uncollected FROM calls')).resolves.toEqual([
      { cost: '500000000', uncollected: '400000000' },
    ]);
    await expect(checked()).resolves.toEqual(EXACT);
  });

  it('writes a refused call without touching any money', async () => {
    const refused = finished(asking(0n), 0n, { opened: false, status: 'refused', billing_basis: 'free' });
    await expect(billing.settle([refused])).resolves.toEqual([0n]);
    await expect(wallet()).resolves.toMatchObject({ balance: 1_000_000_000n });
    await expect(sql.query('SELECT status FROM calls')).resolves.toEqual([{ status: 'refused' }]);
  });

  it('writes every field where it belongs, in the open call and in the finished one', async () => {
    const facts = { model: 'm1', group_name: 'g1', protocol: 'p1', stream: true, effort: 'e1', ip: 'i1' };
    const requested = asking(500_000_000n, { ...facts, process_id: 'prc_1', snapshot: '{"price":"1"}' });
    const other = asking(1n, { snapshot: '{"price":"2"}' });
    const { id, account_id, key_id } = requested;
    await billing.admit([other, requested]);
    const created_at = new Date(requested.created_at);
    const [open] = await sql.query('SELECT * FROM open_calls WHERE id = $1', [id]);
    const counted = {
      budget_day: null,
      budget_week: null,
      budget_month: null,
      member_id: null,
      team_id: null,
      counted_on: null,
    };
    const ids = { id, account_id, key_id, created_at, ...counted };
    expect(open).toEqual({ ...ids, ...facts, process_id: 'prc_1', hold: '500000000', snapshot: { price: '1' } });
    const written = { ...facts, ...ENDING };
    const tokens = [1, 2, 3, 4, 5] as const;
    const [prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens] = tokens;
    const counts = { prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens };
    const attempt = { ...ATTEMPT, call_id: id, created_at: requested.created_at };
    const times = { hold_begun_ms: 6, hold_ms: 7, settle_wait_ms: 8 };
    const waits = { client: { count: 1, ms: 9, spans: [[10, 9]] } };
    await billing.settle([
      finished(other, 0n),
      finished(requested, 600_000_000n, {
        ...written,
        ...counts,
        ...times,
        waits: JSON.stringify(waits),
        upstream_cost: '12',
        output_limit: 4096,
        transport: 'websocket',
        snapshot: '{"price":"1"}',
        lines: '[{"item":"input"}]',
        attempt_rows: [attempt],
      }),
    ]);
    const [row] = await sql.query('SELECT * FROM calls WHERE id = $1', [id]);
    const asText = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]));
    expect(row).toEqual({
      ...ids,
      ...written,
      ...asText,
      ...times,
      waits,
      cost: '600000000',
      uncollected: '0',
      upstream_cost: '12',
      snapshot: { price: '1' },
      lines: [{ item: 'input' }],
      upstream_report: null,
      output_limit: '4096',
      transport: 'websocket',
      entry_id: expect.stringMatching(/^led_/),
    });
    await expect(sql.query('SELECT * FROM call_attempts')).resolves.toEqual([{ ...attempt, created_at }]);
  });

  it('takes what calls settled together cost by one entry, with a line for each wallet, that each of them names', async () => {
    const [one, other, free] = [asking(100n), asking(200n), asking(1n)];
    await billing.admit([one, other, free]);
    await billing.settle([finished(one, 30n), finished(other, 40n), finished(free, 0n)]);
    const rows = await sql.query<{ id: string; entry_id: string | null }[]>('SELECT id, entry_id FROM calls');
    const entryOf = new Map(rows.map(({ id, entry_id }) => [id, entry_id]));
    expect(entryOf.get(free.id)).toBeNull();
    expect(entryOf.get(one.id)).toBe(entryOf.get(other.id));
    await expect(
      sql.query('SELECT ledger_account, amount FROM ledger_lines WHERE entry_id = $1 ORDER BY amount', [
        entryOf.get(one.id),
      ]),
    ).resolves.toEqual([
      { ledger_account: `wallet:${accountId}`, amount: '-70' },
      { ledger_account: 'revenue', amount: '70' },
    ]);
    await expect(checked()).resolves.toEqual(EXACT);
  });

  it('settles a call once that stands twice in one batch', async () => {
    const request = asking(500_000_000n);
    await billing.admit([request]);
    const twice = [finished(request, 30_000_000n), finished(request, 30_000_000n)];
    await expect(billing.settle(twice)).resolves.toEqual([30_000_000n, undefined]);
    await expect(checked()).resolves.toEqual(EXACT);
  });

  it('keeps text that has a NUL, and text that only looks like one', async () => {
    const refused = finished(asking(0n), 0n, {
      opened: false,
      status: 'refused',
      billing_basis: 'free',
      error_message: String.raw`a${'\0'}b \u0000 \\u0000 "c`,
    });
    await billing.settle([refused]);
    await expect(sql.query('SELECT error_message FROM calls')).resolves.toEqual([
      { error_message: String.raw`ab \u0000 \\u0000 "c` },
    ]);
  });

  it('lets the balance of a wallet be no number that is not the sum of its entries, whatever runs at once', async () => {
    const second = await bench.account('bob@example.com');
    // Two accounts in every batch, in opposite orders, from many connections: without ordered locks this deadlocks.
    const rounds = Array.from({ length: 60 }, async (_, round) => {
      const mine = asking(20_000_000n);
      const theirs = asking(20_000_000n, { account_id: second.accountId, key_id: second.keyId });
      const batch = round % 2 === 0 ? [mine, theirs] : [theirs, mine];
      const results = await billing.admit(batch);
      const admitted = batch.filter((_request, index) => results[index]?.outcome === 'admitted');
      await billing.settle(admitted.map((request) => finished(request, BigInt(round) * 1_000_000n)));
    });
    await Promise.all(rounds);
    await expect(checked()).resolves.toEqual(EXACT);
    await expect(wallet()).resolves.toMatchObject({ held: 0n, holds: 0 });
  });

  it('refuses by the database itself a balance below zero and a change of the ledger', async () => {
    const client = new pg.Client({ connectionString: bench.database.url });
    await client.connect();
    await expect(client.query('UPDATE wallets SET balance = -1')).rejects.toThrow('wallet_balance_is_not_negative');
    await expect(client.query('UPDATE wallets SET held = 2000000000')).rejects.toThrow('wallet_held_is_within_balance');
    await expect(client.query('UPDATE api_keys SET quota = 1, used = 2')).rejects.toThrow('key_use_is_within_quota');
    await expect(client.query('UPDATE ledger_lines SET amount = 1')).rejects.toThrow('append-only');
    await expect(client.query('DELETE FROM ledger_entries')).rejects.toThrow('append-only');
    await client.end();
  });
});
