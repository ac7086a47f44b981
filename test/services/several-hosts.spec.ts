import { ADVISORY_LOCKS } from '../../src/platform/database/index.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { readMetrics } from '../support/metrics.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { endlessStream, gate, sse, streamHead, waitFor } from '../support/scripted-upstream.js';
import { kill } from '../support/service-under-load.js';
import { paced, SeveralHosts } from '../support/several-hosts.js';
import { halves } from '../support/stopping-service.js';

/** How long clients may get errors while PostgreSQL fails over. */
const FAILOVER_MS = 10_000;

/** Processes that hold the lock that shows that they live. */
const LIVING = `
  SELECT count(*)::int AS living FROM pg_locks WHERE locktype = 'advisory' AND classid = $1::bigint::oid AND granted`;
/** Open calls by the process that serves them. */
const OPEN = 'SELECT o.id, p.pid FROM open_calls o JOIN processes p ON p.id = o.process_id';

// In this order: each test leaves less behind.
describe('several hosts, set up as documented', () => {
  let hosts: SeveralHosts;
  beforeAll(async () => (hosts = await SeveralHosts.start()), 180_000);
  afterAll(() => hosts.close(), 60_000);
  beforeEach(() => hosts.upstream.script(paced));

  const stream = async (
    url: string,
    key = hosts.key,
  ): Promise<{ readonly id: string; readonly text: Promise<string> }> => {
    const response = await fetch(`${url}${PATHS.messages}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(aRequest('messages', { stream: true })),
    });
    expect(response.status).toBe(200);
    return { id: response.headers.get('x-request-id') ?? '', text: response.text().catch(() => 'broken off') };
  };

  it('loses no call of 200 clients when the relays are restarted one after the other', async () => {
    const load = hosts.load(200);
    await load.untilMore(50);
    // Not ready, while calls are accepted; then the port is closed, while they finish.
    expect(await hosts.restart(0)).toEqual([200, 503, 0]);
    expect(await hosts.restart(1)).toEqual([200, 503, 0]);
    await load.untilMore(50);
    await load.stop();
    expect(load.failures).toEqual([]);
    await hosts.untilSettled();
    await hosts.expectExact(load);
  }, 180_000);

  it('serves again in seconds when PostgreSQL fails over, and loses no call that a client has seen', async () => {
    const load = hosts.load(20);
    await load.untilMore(20);
    const failedAt = performance.now();
    await hosts.postgres.killPrimary();
    await hosts.postgres.promoteStandby();
    await load.untilMore(60);
    await load.stop();
    expect((load.failures.at(-1)?.at ?? failedAt) - failedAt).toBeLessThan(FAILOVER_MS);
    await hosts.untilSettled();
    await hosts.expectExact(load);
  }, 180_000);

  it('hears of changes and of the life of its processes on the new primary', async () => {
    await eventually(
      async () => expect(await hosts.postgres.query(LIVING, [ADVISORY_LOCKS.process])).toEqual([{ living: 2 }]),
      TIMEOUT_MS,
    );
    for (const { address } of hosts.relays)
      expect(readMetrics(await (await fetch(`${address}/metrics`)).text()).get('switchboard_database_listening')).toBe(
        1,
      );
    hosts.upstream.script(endlessStream('messages'));
    const email = 'suspended@example.com';
    await hosts.command('account', 'create', '--email', email, '--credit', '1');
    const key = await hosts.command('key', 'create', '--email', email, '--name', 'test');
    const streams = await Promise.all(hosts.relays.map(({ address }) => stream(address, key)));
    await hosts.command('account', 'disable', '--email', email);
    for (const { text } of streams) expect(await text).toContain('event: error');
    await hosts.untilSettled();
  }, 60_000);

  it('closes the calls of a relay that is killed without a charge, and no others', async () => {
    const over = gate();
    const [first, second] = halves('messages');
    hosts.upstream.script([streamHead(), sse(first), waitFor(over), sse(second)]);
    const streams = await Promise.all(Array.from({ length: 20 }, () => stream(hosts.nginx.url)));
    const open = await hosts.postgres.query<{ id: string; pid: number }>(OPEN);
    const [survivor, victim] = hosts.relays.map(({ relayPid }) => relayPid);
    const of = (wanted?: number): string[] =>
      open
        .filter(({ pid }) => pid === wanted)
        .map(({ id }) => id)
        .toSorted();
    expect([of(survivor).length, of(victim).length]).toEqual([10, 10]);
    kill(victim!);
    over.open();
    const ends = new Map(await Promise.all(streams.map(async ({ id, text }) => [id, await text] as const)));
    const whole = [...ends].filter(([, text]) => text.includes('message_stop')).map(([id]) => id);
    expect(whole.toSorted()).toEqual(of(survivor));
    await hosts.untilSettled();
    const rows = await hosts.postgres.query<{ id: string }>(
      "SELECT id, cost, billing_basis FROM calls WHERE status = 'interrupted' ORDER BY id",
    );
    expect(rows).toEqual(of(victim).map((id) => ({ id, cost: '0', billing_basis: 'free' })));
    expect(await hosts.command('ledger', 'check')).toBe('ledger exact');
    // The other host takes all calls meanwhile.
    expect(await (await stream(hosts.nginx.url)).text).toContain('message_stop');
  }, 120_000);
});
