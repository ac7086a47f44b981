import { DataSource } from 'typeorm';
import { operatorVisit } from '../support/operator-visit.js';
import { completed, usePayments } from '../support/payments-world.js';
import type { PageVisitor } from '../support/page-visitor.js';
import type { TestCaller } from '../support/relay-app.js';

describe('the pages on which people pay', () => {
  const use = usePayments();
  let ann: TestCaller;
  let browser: PageVisitor;
  beforeEach(async () => {
    ann = await use.world.relay.caller({ credit: '1' });
    browser = await use.world.browserOf(ann);
  });

  /** What the form of the wallet's page is sent with, beside the amount. */
  const once = async (): Promise<string> =>
    /name="_once" value="([^"]+)"/.exec((await browser.get('/wallet')).text)?.[1] ?? '';
  const ordered = async (dollars = '25'): Promise<string> => {
    const session = await use.world.begin(browser, dollars);
    return `/wallet/payments/${(await use.world.order(session)).id}`;
  };

  it('lead to Stripe by a link, and say what became of the payment', async () => {
    const path = await ordered();
    const session = use.world.stripe.lastSession;
    const link = `href="${String(session['url'])}"`;
    const open = await browser.get(path);
    expect(open.text).toContain('Pay $25.00');
    expect(open.text).toContain(link);
    expect(open.headers.get('cache-control')).toBe('no-store');
    await use.world.tell(completed(session, 'pi_pages'));
    const paid = await browser.get(path);
    expect(paid.text).toContain('$25.00 added');
    expect(paid.text).not.toContain(link);
  });

  it('believe no address that says that it was paid', async () => {
    const back = await browser.get(`${await ordered()}?from=paid`);
    expect(back.text).toContain('Confirming your $25.00 payment');
    expect(await use.world.money(ann)).toEqual(['1', '0']);
  });

  it('lead on from the list of top-ups what can still be paid, and not what is on its way', async () => {
    await ordered();
    const { lastSession } = use.world.stripe;
    const link = `<a href="${String(lastSession['url'])}"`;
    expect((await browser.get('/wallet')).text).toContain(link);
    await use.world.tell(completed(lastSession, 'pi_of_a_bank', { payment_status: 'unpaid' }));
    const { text } = await browser.get('/wallet');
    expect(text).toContain('Processing');
    expect(text).not.toContain(link);
  });

  it('report a payment whose page was never opened as not started, without a link', async () => {
    await use.world.relay.get(DataSource).query(
      `INSERT INTO top_ups (id, account_id, provider, amount, currency)
       VALUES ('top_unopened', $1, 'stripe', 25000000000, 'usd')`,
      [ann.accountId],
    );
    const [list, page] = [await browser.get('/wallet'), await browser.get('/wallet/payments/top_unopened')];
    for (const { text } of [list, page]) {
      expect(text).toContain('Not started');
      expect(text).toContain('The payment page could not be opened. You were not charged.');
    }
    expect(page.text).toContain('Payment of $25.00 not started');
    expect(page.text).not.toMatch(/Continue|Refresh/);
    const { browser: operator } = await operatorVisit(use.world.relay);
    const { text } = await operator.get(`/admin/users/${ann.accountId}`);
    expect(text.split('top_unopened')).toHaveLength(2);
  });

  it('are visible to the payer only', async () => {
    const path = await ordered();
    const bob = await use.world.browserOf(await use.world.relay.caller());
    expect((await bob.get(path)).status).toBe(404);
    expect((await bob.get('/wallet/payments/top_none')).status).toBe(404);
    expect((await browser.get(path)).status).toBe(200);
  });

  const OTHER = 'other: Enter an amount from $5.00 to $500.00.';
  const NOT_OFFERED = 'amount: Choose or enter an amount.';
  /** What stands beside each field. */
  const faultsOn = (page: string): readonly string[] =>
    [...page.matchAll(/id="(\w+)-error">[^]*?<span>([^<]+)</g)].map(([, field, words]) => `${field}: ${words}`);

  it.each([
    ['an amount that is none', { amount: '25', other: 'much' }, [OTHER]],
    ['a part of a cent', { amount: '', other: '7.505' }, [OTHER]],
    ['more than may be paid at once', { amount: '25', other: '1000000' }, [OTHER]],
    ['a choice that was not offered', { amount: '0.01', other: '' }, [NOT_OFFERED]],
    ['nothing', { amount: '', other: '' }, ['amount: Choose or enter an amount.']],
    ['both at once', { amount: '0.01', other: '4' }, [NOT_OFFERED, OTHER]],
  ])('refuse %s beside its field, with what was typed, and order nothing', async (_, fields, faults) => {
    const before = use.world.stripe.requests.length;
    const refused = await browser.post('/wallet/payments', { ...fields, _once: await once() });
    expect(refused.status).toBe(422);
    expect(faultsOn(refused.text)).toEqual(faults);
    if (fields.other !== '') expect(refused.text).toContain(`value="${fields.other}"`);
    expect(use.world.stripe.requests).toHaveLength(before);
  });

  it('take another amount whatever was chosen beside it', async () => {
    const begun = await browser.post('/wallet/payments', { amount: '0.01', other: '7.50', _once: await once() });
    expect(begun.status).toBe(303);
    expect(use.world.stripe.lastSession['amount_total']).toBe(750);
  });

  it('say that nothing was begun when no field is at fault, and lead to none', async () => {
    const fields = { amount: '', other: '33', _once: await once() };
    use.world.stripe.failure = { status: 500, message: 'Down.' };
    const refused = await browser.post('/wallet/payments', fields);
    use.world.stripe.failure = undefined;
    expect(refused.status).toBe(503);
    expect(refused.text).toContain('Unexpected response from Stripe. Retry shortly. You were not charged.');
    expect(refused.text).toContain('<title>Error: Wallet');
    expect(refused.text).toContain('value="33"');
    expect(refused.text).not.toMatch(/href="#(amount|other)|-error"/);
    expect((await browser.post('/wallet/payments', fields)).status).toBe(303);
  });

  it('lead a form that is sent twice to one payment', async () => {
    const fields = { amount: '25', other: '', _once: await once() };
    const first = await browser.post('/wallet/payments', fields);
    const opened = use.world.stripe.sessions.length;
    const again = await browser.post('/wallet/payments', fields);
    expect([first.status, again.status]).toEqual([303, 303]);
    expect(again.location).toBe(first.location);
    expect(use.world.stripe.sessions).toHaveLength(opened);
  });
});
