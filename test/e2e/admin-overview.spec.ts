import { DataSource } from 'typeorm';
import { actingAs, AuditLog, COMMAND_LINE } from '../../src/platform/audit/index.js';
import { newId } from '../../src/platform/shared/index.js';
import { aCallRow } from '../support/call-rows.js';
import { fieldsSentTo } from '../support/channel-pages.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { operatorVisit } from '../support/operator-visit.js';
import { signedIn } from '../support/signed-in.js';

const HOUR = 60;
const DAY = 24 * HOUR;
const FAILED = { status: 'failed', errorReason: 'upstream_error', billingBasis: 'free', cost: 0n };

describe('the overview', () => {
  let relay: RelayApp;
  let sql: DataSource;
  let ann: TestCaller;
  let ben: TestCaller;
  let operator: PageVisitor;

  const row = async (
    owner: TestCaller,
    minutesAgo: number,
    overrides: Partial<Parameters<typeof aCallRow>[1]> = {},
  ): Promise<string> => {
    const at = Date.now() - minutesAgo * 60_000;
    const id = newId('req', at);
    const { accountId, keyId } = owner;
    await aCallRow(sql, { id, accountId, keyId, createdAt: new Date(at).toISOString(), ...overrides });
    return id;
  };
  const attempt = (
    callId: string,
    facts: { ordinal: number; status: number; firstTokenMs: number | null; tookMs: number },
  ) =>
    sql.query(
      `INSERT INTO call_attempts (call_id, ordinal, created_at, channel, protocol, upstream_model, upstream_status,
         outcome, begun_ms, first_token_ms, duration_ms)
       SELECT id, $2, created_at, 'messages-main', 'messages', 'x', $3,
              CASE WHEN $3::integer = 200 THEN 'succeeded' ELSE 'rate_limit_exceeded' END, 4, $4, $5
         FROM calls WHERE id = $1`,
      [callId, facts.ordinal, facts.status, facts.firstTokenMs, facts.tookMs],
    );
  /** Its words, without markup. */
  const shown = async (path = '/admin'): Promise<string> => {
    const { status, text } = await operator.get(path);
    expect(status).toBe(200);
    return text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  };

  beforeEach(async () => {
    relay = await RelayApp.start();
    sql = relay.get(DataSource);
    operator = (await operatorVisit(relay)).browser;
    [ann, ben] = await Promise.all([relay.caller({ credit: '10' }), relay.caller({ credit: '20' })]);
  });
  afterEach(() => relay.close());

  it('names channels with corrected usage in the last day, with a link to their calls', async () => {
    const id = await row(ann, 10, { billingBasis: 'corrected', channel: 'messages-main' });
    await row(ann, 2 * DAY, { billingBasis: 'corrected', channel: 'messages-main' });
    await row(ann, 11, { channel: 'messages-main' });
    expect(await shown()).toContain('messages-main reported implausible usage for 1 call');
    const { text } = await operator.get('/admin/calls?range=24h&channel=messages-main&result=corrected');
    expect([...text.matchAll(/id="c-(req_\w+)"/g)].map(([, shownId]) => shownId)).toEqual([id]);
  });

  it('returns 404 to users who are not administrators', async () => {
    expect((await (await signedIn(relay, ann.accountId)).get('/admin')).status).toBe(404);
  });

  it('shows no calls, and dashes for unknown values, when nothing was called yet', async () => {
    const text = await shown();
    expect(text).toContain('Calls 0 none in the previous day');
    expect(text).toContain('Charged $0.00 cost –');
    expect(text).toContain('First token, median – no streams');
    expect(text).toContain('No calls in this range.');
  });

  it('compares calls with the previous range, and shows failures', async () => {
    for (const minutes of [10, 20, 30]) await row(ann, minutes);
    await row(ann, 40, { ...FAILED, attempts: 2 });
    await row(ann, 50, { status: 'failed', errorReason: 'invalid_request', attempts: 2 });
    for (const minutes of [DAY + 10, DAY + 20]) await row(ann, minutes);
    const text = await shown();
    expect(text).toContain('Calls 5 +150% vs. previous day');
    expect(text).toContain('Failed 20% 1 call, 1 after retries; 1 rejected');
    expect(await shown('/admin?range=7d')).toContain('Calls 7 none in the previous 7 days');
    expect(await shown('/admin?range=1h')).toContain('Calls 5 none in the previous hour');
    expect(await shown('/admin?range=9y')).toContain('Last 24 hours, all users');
  });

  it('shows the margin over calls with a known cost', async () => {
    await row(ann, 10, { cost: 1_000_000_000n, upstreamCost: 800_000_000n });
    expect(await shown()).toContain('Charged $1.00 cost $0.80, margin 20%');
    await row(ann, 20, { cost: 5_000_000_000n, upstreamCost: null });
    expect(await shown()).toContain('Charged $6.00 cost $0.80, margin 20%, based on 1 call');
    await row(ann, 30, { cost: 1_000_000_000n, upstreamCost: 1_800_000_000n });
    expect(await shown()).toContain('cost $2.60, margin −30%');
  });

  it('shows a dash for the cost when only free calls have a known one', async () => {
    await row(ann, 10, { ...FAILED, upstreamCost: 0n });
    await row(ann, 20, { cost: 5_000_000_000n, upstreamCost: null });
    expect(await shown()).toContain('Charged $5.00 cost –, unknown for 1 call');
  });

  it('shows the median time to first token, and the relay’s share of it', async () => {
    // 250 ms: of the first call 244 ms upstream; of the second one a failure of 100 ms and then 140 ms.
    await attempt(await row(ann, 10), { ordinal: 1, status: 200, firstTokenMs: 244, tookMs: 800 });
    const retried = await row(ann, 20, { attempts: 2 });
    await attempt(retried, { ordinal: 1, status: 429, firstTokenMs: null, tookMs: 100 });
    await attempt(retried, { ordinal: 2, status: 200, firstTokenMs: 140, tookMs: 700 });
    expect(await shown()).toContain('First token, median 250 ms relay 8 ms, p95 250 ms');
  });

  it('lists charges by model and by user, highest first, with the users’ balances', async () => {
    for (const [index, model] of ['a', 'b', 'c', 'd', 'e', 'f', 'g'].entries())
      await row(index === 0 ? ann : ben, 10, { model, cost: BigInt(7 - index) * 1_000_000_000n });
    const text = await shown();
    const one = (model: string, charged: number, share: string) => `${model} $${charged}.00 1 call, ${share}`;
    expect(text).toContain([one('a', 7, '25%'), one('b', 6, '21%'), one('c', 5, '18%'), one('d', 4, '14%')].join(' '));
    expect(text).toContain('e $3.00 1 call, 11% 2 other models $3.00 2 calls, 11%');
    expect(text).toContain(`${ben.email} 6 $21.00 $20.00 ${ann.email} 1 $7.00 $10.00`);
  });

  it('names models without a channel, and unsettled calls', async () => {
    expect(await shown()).toContain('No channel serves “unserved”');
    await sql.query(`INSERT INTO settlement_failures (call_id, error, call) VALUES ('req_1', 'no', '{}')`);
    expect(await shown()).toContain('1 call could not be settled');
  });

  it('reports a channel that rejects more than 5% of requests in the last hour', async () => {
    for (let number = 0; number < 20; number += 1)
      await attempt(await row(ann, 10), { ordinal: 1, status: number < 2 ? 429 : 200, firstTokenMs: 1, tookMs: 2 });
    expect(await shown()).toContain('messages-main is rejecting 10% of requests (429)');
  });

  it('shows each channel’s state, last 24 hours, first token and cost', async () => {
    const [one, other] = [await row(ann, 10), await row(ann, 20)];
    await attempt(one, { ordinal: 1, status: 200, firstTokenMs: 240, tookMs: 800 });
    await attempt(other, { ordinal: 1, status: 429, firstTokenMs: null, tookMs: 100 });
    expect(await shown()).toMatch(/messages-main Anthropic Messages Healthy 50% .*? 240 ms – /);
    // That the failed attempt was free says nothing about the other one.
    await sql.query('UPDATE call_attempts SET upstream_cost = 0 WHERE call_id = $1', [other]);
    expect(await shown()).toMatch(/messages-main Anthropic Messages Healthy 50% .*? 240 ms – /);
    await sql.query('UPDATE call_attempts SET upstream_cost = CASE call_id WHEN $1 THEN 1500000000 END', [one]);
    const text = await shown();
    expect(text).toMatch(/messages-main Anthropic Messages Healthy 50% .*? 240 ms \$1\.50 /);
    expect(text).toContain('Cost includes only attempts with a known cost.');
    expect(text).toMatch(/chat-completions-main .*? Healthy – no calls – – /);
  });

  it('shows recent changes', async () => {
    const entry = {
      action: 'changed',
      object: { kind: 'channel', id: 'chn_1', name: 'deepseek' },
      lines: ['tier 1 → 2'],
    } as const;
    await actingAs(COMMAND_LINE, () => sql.transaction((manager) => relay.get(AuditLog).record(entry, manager)));
    expect(await shown()).toContain('Command line changed deepseek tier 1 → 2');
  });

  it('shows the rest of the page when a query times out', async () => {
    await row(ann, 10);
    const blocked = sql.createQueryRunner();
    await blocked.startTransaction();
    await blocked.query('LOCK TABLE calls IN ACCESS EXCLUSIVE MODE');
    try {
      const text = await shown();
      expect(text).toContain('There are too many calls in this range to aggregate in time.');
      expect(text).toContain('Recent changes');
    } finally {
      await blocked.rollbackTransaction();
      await blocked.release();
    }
  }, 30_000);

  it('lists what remains to be set up until the list is hidden', async () => {
    expect(await shown()).toContain('Set up this service');
    const path = '/admin/settings/site';
    const fields = fieldsSentTo(path, await operator.get(path));
    const saved = await operator.post(path, { ...fields, setupHidden: 'yes' });
    expect(saved.status).toBe(303);
    expect(await shown()).not.toContain('Set up this service');
  });
});
