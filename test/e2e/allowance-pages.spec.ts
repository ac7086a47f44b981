import { DataSource } from 'typeorm';
import { AccountService } from '../../src/auth/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { AllowanceService, AllowanceRenewal, LedgerCheck, WalletService } from '../../src/wallet/index.js';
import { type OperatedUser, useOperatedUser } from '../support/operated-user.js';
import { forgetSignIn, onceOf, OPERATOR_PASSWORD } from '../support/operator-visit.js';
import type { PageVisitor, PageResponse } from '../support/page-visitor.js';
import { signedIn } from '../support/signed-in.js';

describe('pages and the monthly allowance', () => {
  const world = useOperatedUser();
  const { balance } = world;
  let { relay, operator, ann, there } = {} as OperatedUser;
  let browser: PageVisitor;
  beforeEach(async () => {
    ({ relay, operator, ann, there } = world);
    browser = await signedIn(relay, ann.accountId);
  });

  const set = async (amount: string, password?: string): Promise<PageResponse> => {
    await operator.browser.get(`${there}/allowance`);
    return operator.browser.post(`${there}/allowance`, { amount, ...(password !== undefined && { password }) });
  };
  const make = async (fields: Readonly<Record<string, string>>): Promise<PageResponse> => {
    const { text } = await operator.browser.get('/admin/users/new');
    return operator.browser.post('/admin/users/new', { _once: onceOf(text), ...fields });
  };
  /** The last one apart from an invitation. */
  const lastChange = async (id: string): Promise<unknown> => {
    const sql = `SELECT action, lines FROM audit_entries WHERE object_id = $1 AND action <> 'invited' ORDER BY id DESC LIMIT 1`;
    return (await relay.get(DataSource).query<unknown[]>(sql, [id]))[0];
  };
  const textOf = (html: string): string => html.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
  const nextMonth = (): string => {
    const now = new Date();
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
    return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(first);
  };
  /** What was given this month was given in the month before. */
  const passMonth = async (): Promise<void> => {
    const sql = "UPDATE allowance_months SET month = month - interval '1 month' WHERE account_id = $1";
    await relay.get(DataSource).query(sql, [ann.accountId]);
    await relay.get(AllowanceRenewal).renewAll();
  };

  it('let an operator set it: it is given at once, on record, and shown where the user is', async () => {
    expect((await operator.browser.get(`${there}/allowance`)).text).toContain('No allowance is set.');
    expect(await set('20')).toMatchObject({ status: 303, location: there });
    expect(await balance()).toBe(parseUsd('25'));
    const change = { action: 'changed', lines: ['monthly allowance none → $20'] };
    expect(await lastChange(ann.accountId)).toEqual(change);
    expect((await operator.browser.get(there)).text).toContain('$20.00 monthly allowance');
    const list = await operator.browser.get(`/admin/users?q=${ann.accountId}`);
    expect(list.text).toContain('$20.00 per month');
    const form = await operator.browser.get(`${there}/allowance`);
    expect(form.text).toContain('Current allowance: <b>$20.00</b> per month.');
    expect(form.text).toContain('value="20"');
  });

  it.each(['password', 'invite'])('let an operator give one to a new user who starts with a %s', async (way) => {
    const email = `new-${way}@example.com`;
    const refused = await make({ email, way, allowance: 'much' });
    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(
      /id="allowance-error">.*?Enter an amount in dollars, such as 25 or 1,000.50, or leave empty/s,
    );
    expect(refused.text).toContain('value="much"');
    await make({ email, way, credit: '2', allowance: '1,000.50' });
    const { id } = await relay.get(AccountService).get(email);
    expect(await balance(id)).toBe(parseUsd('1002.5'));
    expect(await lastChange(id)).toEqual({ action: 'changed', lines: ['monthly allowance none → $1000.5'] });
    expect((await operator.browser.get(`/admin/users/${id}`)).text).toContain('$1,000.50 monthly allowance');
  });

  it('refuse what is no amount and keep it as it was typed, and ask for a password after a while', async () => {
    for (const typed of ['-5', 'much', '']) {
      const refused = await set(typed);
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('Enter an amount in dollars, such as 25 or 1,000.50, or 0 for none.');
      expect(refused.text).toContain(`value="${typed}"`);
    }
    await forgetSignIn(relay, operator.accountId);
    const refused = await set('20', 'not the password');
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('id="password-error"');
    expect(refused.text).toContain('value="20"');
    expect(await balance()).toBe(parseUsd('5'));
    expect((await set('20', OPERATOR_PASSWORD)).status).toBe(303);
    expect(await balance()).toBe(parseUsd('25'));
  });

  it('tell its owner what is left, until when, and what comes after that', async () => {
    expect((await browser.get('/wallet')).text).not.toContain('Monthly allowance');
    await relay.get(AllowanceService).set(ann.accountId, parseUsd('20'));
    await relay.get(WalletService).credit(ann.accountId, parseUsd('-11.8'), 'taken out');
    const until = `left until ${nextMonth()}, 00:00 UTC; the unspent part expires.`;
    const page = async (): Promise<string> => textOf((await browser.get('/wallet')).text);
    expect(await page()).toContain(`$20.00 per month, $13.20 ${until}`);
    await relay.get(AllowanceService).set(ann.accountId, parseUsd('50'));
    expect(await page()).toContain(`$50.00 per month from ${nextMonth()}.`);
    await relay.get(AllowanceService).set(ann.accountId, parseUsd('0'));
    expect(await page()).toContain('No further allowance after that.');
    expect(textOf((await browser.get('/')).text)).toContain(`$13.20 expires ${nextMonth()} (UTC)`);
  });

  it('list what was given and what expired, in words, on the page and as CSV', async () => {
    await relay.get(AllowanceService).set(ann.accountId, parseUsd('20'));
    await passMonth();
    const rows = textOf((await browser.get('/wallet')).text);
    expect(rows.match(/Monthly allowance For \w+ \d{4}/g)).toHaveLength(2);
    expect(rows.match(/Monthly allowance Not spent in \w+ \d{4}/g)).toHaveLength(1);
    const csv = (await browser.get('/wallet/top-ups.csv')).text.trim().split('\n').slice(1, 4);
    expect(csv.map((line) => line.split(',').filter((_, column) => [1, 3, 5].includes(column)))).toEqual([
      ['allowance', '20', '25'],
      ['expiry', '-20', '5'],
      ['allowance', '20', '25'],
    ]);
    await expect(relay.get(LedgerCheck).run()).resolves.toEqual({ exact: true, differences: [] });
  });
});
