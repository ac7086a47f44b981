import { DataSource } from 'typeorm';
import { CatalogService } from '../../src/catalog/index.js';
import { ResponseCounting } from '../../src/console/home/status.controller.js';
import { Settings } from '../../src/platform/settings/index.js';
import { readModelOutcomes, TimeLimitedReads } from '../../src/usage/index.js';
import { aCallRow } from '../support/call-rows.js';
import { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const HOUR_MS = 3_600_000;

describe('the status of the service', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  let calls = 0;
  beforeEach(async () => {
    relay = await RelayApp.start();
    caller = await relay.caller();
  });
  afterEach(() => relay.close());

  const made = (model: string, row: object = {}): Promise<void> =>
    aCallRow(relay.get(DataSource), {
      id: `req_${(calls += 1).toString().padStart(12, '0')}`,
      accountId: caller.accountId,
      keyId: caller.keyId,
      model,
      createdAt: new Date(Date.now() - 1000).toISOString(),
      ...row,
    });
  const ended = (status: string, errorReason: string): object => ({ status, errorReason, firstTokenMs: null });
  const makePublic = async (isPublic: boolean): Promise<void> => {
    const sql = relay.get(DataSource);
    await sql.query(
      `INSERT INTO settings (section, value) VALUES ('site', $1) ON CONFLICT (section) DO UPDATE SET value = $1`,
      [JSON.stringify({ statusIsPublic: isPublic })],
    );
    await relay.get(Settings).reload();
  };
  const rowOf = (html: string, model: string): string =>
    html
      .split('<tr ')
      .find((row) => row.includes(`>${model}</th>`))
      ?.replaceAll(/<details[^]*?<\/details>|<svg[^]*?<\/svg>|<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ') ?? '';

  it('is signed-in users, unless the operator makes it public: then its address stands on public pages', async () => {
    const otherUser = new PageVisitor(relay.url);
    await makePublic(false);
    await expect(otherUser.get('/status')).resolves.toMatchObject({ status: 303, location: '/sign-in?next=%2Fstatus' });
    expect((await otherUser.get('/pricing')).text).not.toContain('href="/status"');
    expect((await (await signedIn(relay, caller.accountId)).get('/status')).status).toBe(200);
    await makePublic(true);
    expect((await otherUser.get('/status')).status).toBe(200);
    expect((await otherUser.get('/pricing')).text).toContain('href="/status"');
  });

  it('counts what upstreams and the service have failed at, and nothing else, against what was answered', async () => {
    for (let count = 0; count < 3; count += 1) await made('m', { firstTokenMs: 100 + 100 * count });
    await made('m', { ...ended('failed', 'upstream_error'), channel: 'secret-channel' });
    const others = [
      ['refused', 'rate_limit_exceeded'],
      ['refused', 'insufficient quota'],
      ['refused', 'model_not_found'],
      ['failed', 'invalid_request'],
      ['cancelled', 'context_canceled'],
    ] as const;
    for (const [status, reason] of others) await made('m', ended(status, reason));
    for (const [status, reason] of [
      ['failed', 'rate_limit_exceeded'],
      ['failed', 'timeout'],
      ['refused', 'server_is_overloaded'],
      ['interrupted', 'internal'],
    ] as const)
      await made('fee', ended(status, reason));
    await makePublic(true);
    const { text } = await new PageVisitor(relay.url).get('/status');
    expect(rowOf(text, 'm')).toContain('Some calls fail');
    expect(rowOf(text, 'm')).toContain('75%');
    expect(rowOf(text, 'm')).toContain('200 ms');
    expect(rowOf(text, 'fee')).toContain('Most calls fail');
    expect(rowOf(text, 'fee')).toContain(' 0% ');
    expect(rowOf(text, 'free')).toContain('No calls');
    expect(text).toContain('Calls of 2 models have failed in the last 24 hours');
    expect(text).not.toMatch(/secret-channel|-main|upstream_error/);
    expect(text).not.toContain(caller.email);
  });

  it('has a cell for each of 24 hours, and leaves out what is older', async () => {
    const now = Date.now();
    const hour = Math.floor(now / HOUR_MS);
    const at = (hoursAgo: number): object => ({ createdAt: new Date((hour - hoursAgo) * HOUR_MS + 1).toISOString() });
    await made('m', at(24));
    await made('m', at(23));
    await made('m', { ...at(23), ...ended('failed', 'timeout') });
    await made('m', at(1));
    const span = { from: new Date((hour - 23) * HOUR_MS), to: new Date(now) };
    const [responses] = await relay.get(TimeLimitedReads).read((query) => readModelOutcomes(query, span));
    expect([...responses!.hours].toSorted(([one], [other]) => one - other)).toEqual([
      [hour - 23, { answered: 1, failed: 1 }],
      [hour - 1, { answered: 1, failed: 0 }],
    ]);
    await makePublic(true);
    const { text } = await new PageVisitor(relay.url).get('/status');
    expect(text).toContain('at least 50% in 2 with data');
  });

  it('lists models that the visitor can call, and no others', async () => {
    await made('saver-only');
    await made('unheard-of');
    await relay.get(DataSource).query(`UPDATE models SET enabled = false WHERE name = 'free'`);
    await relay.get(CatalogService).reload();
    await makePublic(true);
    const { text } = await new PageVisitor(relay.url).get('/status');
    expect(rowOf(text, 'm')).not.toBe('');
    for (const name of ['unserved', 'unheard-of', 'free']) expect(rowOf(text, name)).toBe('');
  });

  it('is computed once for concurrent requests, and says when there are no calls yet', async () => {
    await makePublic(true);
    const pages = await Promise.all(Array.from({ length: 5 }, () => new PageVisitor(relay.url).get('/status')));
    const [first] = pages;
    expect(first!.text).toContain('No calls yet');
    await made('m');
    const counted = await relay.get(ResponseCounting).current();
    expect(counted!.models.size).toBe(0);
    expect((await new PageVisitor(relay.url).get('/status')).text).toContain('No calls yet');
  });
});
