import { DataSource } from 'typeorm';
import { AccountService } from '../../src/auth/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { LedgerCheck } from '../../src/wallet/index.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { type OperatedUser, useOperatedUser } from '../support/operated-user.js';
import { forgetSignIn, onceOf, OPERATOR_PASSWORD } from '../support/operator-visit.js';
import type { PageResponse } from '../support/page-visitor.js';
import { signedIn } from '../support/signed-in.js';

describe('users in the admin console', () => {
  const world = useOperatedUser();
  const { balance } = world;
  let { relay, operator, ann, there } = {} as OperatedUser;
  beforeEach(() => {
    ({ relay, operator, ann, there } = world);
  });

  const adjust = async (fields: Readonly<Record<string, string>>): Promise<PageResponse> => {
    const page = await operator.browser.get(`${there}/balance`);
    return operator.browser.post(`${there}/balance`, { _once: onceOf(page.text), ...fields });
  };
  const changes = (): Promise<{ action: string; actor_name: string; lines: string[]; reason: string }[]> =>
    relay
      .get(DataSource)
      .query('SELECT action, actor_name, lines, reason FROM audit_entries WHERE object_id = $1 ORDER BY id', [
        ann.accountId,
      ]);

  let lastPath = '';
  /** IDs in the list, by page. */
  const pages = async (first: string, direction: 'next' | 'prev'): Promise<string[][]> => {
    const seen: string[][] = [];
    for (let path = first; path !== '';) {
      lastPath = path;
      const { text } = await operator.browser.get(path);
      seen.push([...text.matchAll(/href="\/admin\/users\/(acc_\w+)"/g)].map(([, id]) => id ?? ''));
      const href = new RegExp(`href="([^"]+)" rel="${direction}"`).exec(text)?.[1] ?? '';
      path = href.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
    }
    return seen;
  };

  it('are found by email address, name, id, role and state', async () => {
    for (const text of [ann.email, ann.email.slice(0, -4).toUpperCase(), ann.accountId])
      expect((await operator.browser.get(`/admin/users?q=${encodeURIComponent(text)}`)).text).toContain(ann.accountId);
    for (const query of ['q=nobody@nowhere', `q=${ann.email}&role=admin`, `q=${ann.email}&state=disabled`]) {
      const { status, text } = await operator.browser.get(`/admin/users?${query}`);
      expect(status).toBe(200);
      expect(text).toContain('No users match');
    }
    const stale = await operator.browser.get('/admin/users?before=nonsense');
    expect(stale.text).toContain('Page no longer available');
  });

  it('are paginated without gaps or duplicates', async () => {
    await relay
      .get(DataSource)
      .query(
        `INSERT INTO accounts (id, email) SELECT 'acc_' || n, 'user' || n || '@example.com' FROM generate_series(100, 152) n`,
      );
    const seen = (await pages('/admin/users?role=user', 'next')).flat();
    const ids = (await relay.get(AccountService).list()).filter(({ role }) => role === 'user').map(({ id }) => id);
    expect(seen).toEqual(ids.toReversed());
  });

  it('are paginated by balance in both orders and directions when they are sorted by it', async () => {
    const sql = (text: string): Promise<unknown> => relay.get(DataSource).query(text);
    // Groups of ten have the same balance, and every seventh has no wallet.
    const users = `generate_series(200, 319) n`;
    await sql(`INSERT INTO accounts (id, email) SELECT 'acc_' || n, 'sorted' || n || '@example.com' FROM ${users}`);
    await sql(`INSERT INTO wallets (account_id, balance) SELECT 'acc_' || n, n / 10 FROM ${users} WHERE n % 7 > 0`);
    const balanceOf = (id: string): number => {
      const number = Number(id.slice('acc_'.length));
      return number % 7 > 0 ? Math.floor(number / 10) : 0;
    };
    const all = Array.from({ length: 120 }, (_, index) => `acc_${200 + index}`);
    const lowest = all.toSorted((one, other) => balanceOf(one) - balanceOf(other) || (one < other ? -1 : 1));
    for (const [sort, ids] of [
      ['lowest-balance', lowest],
      ['highest-balance', lowest.toReversed()],
    ] as const) {
      const forward = await pages(`/admin/users?q=sorted&sort=${sort}`, 'next');
      expect(forward.flat()).toEqual(ids);
      expect((await pages(lastPath, 'prev')).toReversed().flat()).toEqual(ids);
    }
    // Their balances are in no ledger.
    await sql(`DELETE FROM wallets WHERE account_id IN (SELECT id FROM accounts WHERE email LIKE 'sorted%')`);
  });

  describe('balance adjustments', () => {
    it('are previewed, and recorded with their reason in the ledger and the audit log', async () => {
      const typed = { direction: 'add', amount: '1,000.50', reason: 'Invoice 12' };
      const review = await adjust(typed);
      expect(review.status).toBe(200);
      expect(review.text).toMatch(/\$5\.00\d*<\/b> to <b>\$1,005\.50/);
      expect(await balance()).toBe(parseUsd('5'));
      const done = await adjust({ ...typed, reviewed: parseUsd('1000.5').toString() });
      expect(done).toMatchObject({ status: 303, location: there });
      expect(await balance()).toBe(parseUsd('1005.5'));
      const [last] = (await changes()).slice(-1);
      expect(last).toEqual({
        action: 'credited',
        actor_name: operator.email,
        lines: ['balance $5 → $1005.5'],
        reason: 'Invoice 12',
      });
      expect((await operator.browser.get(there)).text).toContain('Invoice 12');
      await expect(relay.get(LedgerCheck).run()).resolves.toMatchObject({ exact: true });
    });

    it('once, however often the form is sent', async () => {
      const typed = { direction: 'take', amount: '2', reason: 'Mistake', reviewed: parseUsd('-2').toString() };
      const once = onceOf((await operator.browser.get(`${there}/balance`)).text);
      for (const _ of [1, 2])
        expect((await operator.browser.post(`${there}/balance`, { ...typed, _once: once })).location).toBe(there);
      expect(await balance()).toBe(parseUsd('3'));
    });

    it('are previewed again when the amount was changed', async () => {
      const reviewed = parseUsd('2').toString();
      const changed = await adjust({ direction: 'add', amount: '200', reason: 'More', reviewed });
      expect(changed.text).toContain('Confirm the adjustment');
      expect(await balance()).toBe(parseUsd('5'));
    });

    it('deduct no more than the available balance', async () => {
      const refused = await adjust({ direction: 'take', amount: '7.25', reason: 'Too much' });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('A debit of $7.25 is not possible: only $5 is available.');
      expect(refused.text).toContain('value="7.25"');
      expect(refused.text).toContain('value="Too much"');
      expect(await balance()).toBe(parseUsd('5'));
    });

    it('require the password after some time, and change nothing if it is wrong', async () => {
      await forgetSignIn(relay, operator.accountId);
      const typed = { direction: 'add', amount: '1', reason: 'Late', reviewed: parseUsd('1').toString() };
      for (const password of ['', 'not the password']) {
        const refused = await adjust({ ...typed, password });
        expect(refused.status).toBe(422);
        expect(refused.text).toContain('id="password-error"');
        expect(refused.text).toContain('value="Late"');
      }
      expect(await balance()).toBe(parseUsd('5'));
      expect((await adjust({ ...typed, password: OPERATOR_PASSWORD })).status).toBe(303);
      expect((await adjust(typed)).status).toBe(303);
      expect(await balance()).toBe(parseUsd('7'));
    });
  });

  describe('group and limits', () => {
    const typed = { group: 'saver', callsPerMinute: '1,000', tokensPerMinute: '', concurrency: '4' };
    const revisionIn = (page: string): string => /name="revision" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const opened = async (): Promise<string> => revisionIn((await operator.browser.get(there)).text);
    const save = async (fields: Readonly<Record<string, string>>, revision: string): Promise<PageResponse> =>
      operator.browser.post(`${there}/settings`, { ...fields, revision });
    const terms = () => relay.get(AccountService).byId(ann.accountId);

    it('are saved together, and keep what was typed when one is invalid', async () => {
      const refused = await save({ ...typed, concurrency: 'many' }, await opened());
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('value="many"');
      expect((await save(typed, revisionIn(refused.text))).location).toBe(there);
      await expect(terms()).resolves.toMatchObject({
        groupName: 'saver',
        limits: { requestsPerMinute: 1000, concurrency: 4 },
      });
      expect((await changes()).at(-1)?.lines).toEqual([
        'group default → saver',
        'limits default → 1,000 calls/min, 4 at a time',
      ]);
      const unknown = await save({ ...typed, group: 'nowhere' }, await opened());
      expect(unknown.text).toContain('Choose a group from the list.');
    });

    it('show both values and overwrite nothing when they were changed meanwhile', async () => {
      const revision = await opened();
      await save(typed, revision);
      const theirs = { group: 'default', callsPerMinute: '1000', tokensPerMinute: '50', concurrency: '9' };
      const second = await save(theirs, revision);
      expect(second.status).toBe(409);
      expect(second.text).toContain('were changed while you edited them');
      for (const [label, now, yours] of [
        ['Group', 'saver', 'default'],
        ['Tokens per minute', '–', '50'],
        ['Concurrent calls', '4', '9'],
      ])
        expect(second.text).toContain(`<li>${label}: now <b>${now}</b>, yours <b>${yours}</b></li>`);
      expect(second.text).not.toContain('Calls per minute: now');
      expect(second.text).toContain('value="9"');
      await expect(terms()).resolves.toMatchObject({
        groupName: 'saver',
        limits: { requestsPerMinute: 1000, concurrency: 4 },
      });
      expect((await save(theirs, revisionIn(second.text))).location).toBe(there);
      await expect(terms()).resolves.toMatchObject({
        groupName: undefined,
        limits: { requestsPerMinute: 1000, tokensPerMinute: 50, concurrency: 9 },
      });
    });

    it('keep the revision of a rejected form', async () => {
      const revision = await opened();
      await save(typed, revision);
      const refused = await save({ ...typed, concurrency: 'many' }, revision);
      expect(revisionIn(refused.text)).toBe(revision);
    });
  });

  it('become administrators from their next page on, and users again', async () => {
    const theirs = await signedIn(relay, ann.accountId);
    expect((await theirs.get('/admin/users')).status).toBe(404);
    await operator.browser.submit(there, { role: 'admin' }, `${there}/role`);
    expect((await theirs.get('/admin/users')).status).toBe(200);
    await operator.browser.submit(there, { role: 'user' }, `${there}/role`);
    expect((await theirs.get('/admin/users')).status).toBe(404);
  });

  it('are signed out, and their sign-in and API keys rejected, while suspended', async () => {
    const theirs = await signedIn(relay, ann.accountId);
    await operator.browser.submit(there, {}, `${there}/suspend`);
    expect((await theirs.get('/account')).location).toContain('/sign-in');
    const call = async (): Promise<number> =>
      (await fetch(`${relay.url}/v1/models`, { headers: { authorization: `Bearer ${ann.key}` } })).status;
    await eventually(async () => expect(await call()).toBe(401), TIMEOUT_MS);
    expect((await operator.browser.get(there)).text).toContain('This user is suspended');
    await operator.browser.post(`${there}/enable`);
    await eventually(async () => expect(await call()).toBe(200), TIMEOUT_MS);
  });

  it('have API keys that can be disabled, enabled and deleted, but only their own', async () => {
    const key = `${there}/keys/${ann.keyId}`;
    const state = async (): Promise<unknown> => (await relay.get(ApiKeyService).list(ann.accountId))[0]?.state;
    await operator.browser.submit(there, {}, `${key}/disable`);
    expect(await state()).toBe('disabled');
    await operator.browser.post(`${key}/enable`);
    expect(await state()).toBe('enabled');
    const bob = await relay.caller();
    expect((await operator.browser.post(`${there}/keys/${bob.keyId}/disable`)).status).toBe(404);
    expect((await operator.browser.submit(`${key}/delete`, {})).location).toBe(`${there}#keys`);
    expect(await state()).toBe('deleted');
    const { text } = await operator.browser.get(`/admin/audit?object=${ann.accountId}`);
    expect([...text.matchAll(/(enabled|disabled|deleted) <a href="[^"]*key_/g)].map(([, action]) => action)).toEqual([
      'deleted',
      'enabled',
      'disabled',
    ]);
    expect(text).not.toContain(bob.keyId);
  });

  it('can be signed out of one or all sessions', async () => {
    const [one, other] = [await signedIn(relay, ann.accountId), await signedIn(relay, ann.accountId)];
    const { text } = await operator.browser.get(there);
    const [, id = ''] = /sessions\/(ses_\w+)\/end/.exec(text) ?? [];
    await operator.browser.post(`${there}/sessions/${id}/end`);
    const left = [await one.get('/account'), await other.get('/account')].filter(({ status }) => status === 200);
    expect(left).toHaveLength(1);
    await operator.browser.submit(there, {}, `${there}/sessions/end`);
    for (const browser of [one, other]) expect((await browser.get('/account')).status).toBe(303);
    expect((await changes()).slice(-2)).toMatchObject([
      { action: 'signed out', actor_name: operator.email, lines: ['Another program'] },
      { action: 'signed out', actor_name: operator.email, lines: ['Another program'] },
    ]);
    const recorded = (await changes()).length;
    await operator.browser.submit(there, {}, `${there}/sessions/end`);
    expect(await changes()).toHaveLength(recorded);
  });

  it('are deleted when their email address is typed, and listed as deleted', async () => {
    const wrong = await operator.browser.submit(`${there}/delete`, { confirm: 'somebody@else.example' });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain(`Enter ${ann.email} to confirm.`);
    const done = await operator.browser.submit(`${there}/delete`, { confirm: ann.email });
    expect(done).toMatchObject({ status: 303, location: '/admin/users' });
    expect((await operator.browser.follow(done)).text).toContain(`${ann.email} deleted`);
    const { text } = await operator.browser.get(there);
    expect(text).toContain('This user was deleted');
    expect(text).not.toContain(ann.email);
    expect((await operator.browser.get(`/admin/users?q=${ann.accountId}`)).text).toContain('No users match');
    expect((await operator.browser.get(`/admin/users?q=${ann.accountId}&state=deleted`)).text).toContain(ann.accountId);
    const call = await fetch(`${relay.url}/v1/models`, { headers: { authorization: `Bearer ${ann.key}` } });
    expect(call.status).toBe(401);
  });

  it('return 404 for unknown ids', async () => {
    for (const id of ['acc_none', 'nonsense', '%00'])
      expect((await operator.browser.get(`/admin/users/${id}`)).status).toBe(404);
  });
});
