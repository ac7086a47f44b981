import { DataSource } from 'typeorm';
import { RedemptionService } from '../../src/wallet/index.js';
import { operatorVisit, onceOf, type OperatorVisit } from '../support/operator-visit.js';
import type { PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

describe('redemption codes in the admin console', () => {
  let relay: RelayApp;
  let operator: OperatorVisit;

  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = await operatorVisit(relay);
  });
  afterAll(() => relay.close());

  const make = async (fields: Readonly<Record<string, string>>, once?: string): Promise<PageResponse> => {
    const page = await operator.browser.get('/admin/codes/new');
    const typed = { amount: '5', count: '1', expires: '', note: '', ...fields };
    return operator.browser.post('/admin/codes/new', { _once: once ?? onceOf(page.text), ...typed });
  };
  const codesOn = ({ text }: PageResponse): string[] =>
    (/<code>([^<]*)<\/code>/.exec(text)?.[1] ?? '').split('\n').filter(Boolean);
  const batchOn = ({ text }: PageResponse): string =>
    /\/admin\/codes\?batch(?:=|&#x3D;)(bat_\w+)/.exec(text)?.[1] ?? '';

  it('are shown once, on a page that is not cached', async () => {
    const once = onceOf((await operator.browser.get('/admin/codes/new')).text);
    const made = await make({ count: '3', note: 'Course in spring' }, once);
    expect(made.status).toBe(200);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const codes = codesOn(made);
    expect(new Set(codes).size).toBe(3);
    const again = await make({ count: '3', note: 'Course in spring' }, once);
    expect(again).toMatchObject({ status: 303, location: `/admin/codes?batch=${batchOn(made)}` });
    const list = await operator.browser.follow(again);
    expect(list.text).toContain('These codes were already created');
    expect(list.text.match(/Course in spring/g)).toHaveLength(3);
    for (const code of codes) expect(list.text).not.toContain(code);
  });

  it('expire at the end of the day in the administrator’s time zone, which is shown', async () => {
    const berlin = 'Europe/Berlin';
    await relay.get(DataSource).query('UPDATE accounts SET time_zone = $2 WHERE id = $1', [operator.accountId, berlin]);
    const form = await operator.browser.get('/admin/codes/new');
    expect(form.text).toContain(`Last day the codes can be redeemed, in time zone ${berlin}.`);
    const made = await make({ expires: '2099-01-31' });
    expect(made.text).toMatch(new RegExp(`2099-01-31 <span[^>]*>${berlin}</span>`));
    const codes = await relay.get(RedemptionService).list();
    expect(codes.at(-1)?.expiresAt).toEqual(new Date('2099-01-31T23:00:00Z'));
  });

  it('can be downloaded as CSV from the page that shows them', async () => {
    const made = await make({ count: '2' });
    const codes = codesOn(made);
    const file = await operator.browser.post('/admin/codes/csv', { codes: codes.join('\r\n') });
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="codes.csv"');
    expect(file.text).toBe(`code\r\n${codes.join('\r\n')}\r\n`);
    expect((await operator.browser.post('/admin/codes/csv', { codes: '=cmd()' })).status).toBe(400);
  });

  it('report invalid fields and keep what was typed', async () => {
    const refused = await make({ amount: 'much', count: '1001', expires: '2026-02-31', note: 'kept' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Enter an amount in dollars, such as 25.');
    expect(refused.text).toContain('Enter a number of codes from 1 to 1,000.');
    expect(refused.text).toContain('Enter a date, or leave empty');
    for (const typed of ['much', '1001', '2026-02-31', 'kept']) expect(refused.text).toContain(`value="${typed}"`);
    expect((await make({ expires: '2001-01-01' })).text).toContain('The expiry of the codes must be in the future.');
  });

  it('show who redeemed them, and can be voided', async () => {
    const made = await make({ count: '3', note: 'Some used' });
    const [first = '', second = ''] = codesOn(made);
    const ann = await relay.caller();
    await relay.get(RedemptionService).redeem(ann.accountId, first);
    const path = `/admin/codes?batch=${batchOn(made)}`;
    const list = await operator.browser.get(path);
    expect(list.text).toContain(ann.email);
    expect(list.text).toContain('Void all unused codes');
    const done = await operator.browser.post(`/admin/codes/${batchOn(made)}/void`);
    expect(done.location).toBe(path);
    expect((await operator.browser.follow(done)).text).toContain('2 codes voided');
    const refused = relay.get(RedemptionService).redeem(ann.accountId, second);
    await expect(refused).rejects.toThrow('This code was voided.');
    const again = await operator.browser.follow(await operator.browser.post(`/admin/codes/${batchOn(made)}/void`));
    expect(again.text).toContain('Nothing to void');
  });
});
