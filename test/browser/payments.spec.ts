import type { Browser } from 'playwright-core';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { mouse } from '../support/page-input.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { anEvent, completed, PaymentsWorld, WEBHOOK_SECRET } from '../support/payments-world.js';

describe('a payment in a browser', () => {
  let world: PaymentsWorld;
  let browser: Browser;
  let operator: PageVisitor;
  let payer: PageVisitor;
  let window: Window;

  beforeAll(async () => {
    [world, browser] = await Promise.all([PaymentsWorld.start({}), startBrowser()]);
    operator = (await operatorVisit(world.relay)).browser;
    payer = await world.browserOf(await world.relay.caller({ credit: '1' }));
  });
  afterAll(async () => {
    await browser.close();
    await world.close();
  });
  afterEach(() => window.close());

  const open = async (who: PageVisitor, path: string, javaScriptEnabled = true): Promise<void> => {
    window = await Window.as(browser, who, { javaScriptEnabled });
    await window.page.goto(path);
  };
  const press = (role: 'button' | 'link', name: string): Promise<void> => mouse.press(window.page, role, name);
  const heading = (): Promise<string> => window.page.getByRole('heading', { level: 1 }).innerText();
  const main = (): Promise<string> => window.page.getByRole('main').innerText();
  const fine = (name: string): Promise<void> => expectFine(window, `payments-${name}`);
  /** From the wallet to the page of Stripe. */
  const begin = async (): Promise<void> => {
    await press('button', 'Continue to payment');
    await press('link', 'Continue to payment');
    expect(await window.page.title()).toBe('Stripe');
  };

  it('is offered once payments are configured', async () => {
    await open(payer, '/wallet');
    expect(await window.page.getByRole('button', { name: 'Continue to payment' }).count()).toBe(0);
    await window.close();
    await open(operator, '/admin/settings/payment');
    const form = window.page.getByRole('region', { name: 'Payment', exact: true });
    expect(await form.innerText()).toContain('Payments are not set up');
    await fine('settings-none');
    await form.getByLabel('Enable payments').check();
    await form.getByLabel('Suggested amounts (US dollars)').fill('20, lots');
    await form.getByRole('textbox', { name: 'Secret key' }).fill('sk_test_of_a_test');
    await press('button', 'Save payment settings');
    expect(await window.page.locator('#amounts-error').innerText()).toContain('Enter amounts of at least 0.50');
    expect(await form.getByLabel('Suggested amounts (US dollars)').inputValue()).toBe('20, lots');
    await fine('settings-refused');
    await form.getByLabel('Suggested amounts (US dollars)').fill('20, 40, 80');
    await form.getByRole('textbox', { name: 'Secret key' }).fill('sk_test_of_a_test');
    await form.getByRole('textbox', { name: 'Signing secret' }).fill(WEBHOOK_SECRET);
    await press('button', 'Save payment settings');
    expect(await main()).toContain('Payment settings saved');
    expect(await form.innerText()).not.toContain('Payments are not set up');
    expect(await window.page.content()).not.toMatch(/sk_test_of_a_test|whsec_of_a_test/);
    await fine('settings');
  });

  it.each([
    ['with script', true],
    ['without script', false],
  ])('starts with an offered amount, and is confirmed by a Stripe event, %s', async (_, withScript) => {
    await open(payer, '/wallet', withScript);
    expect(await window.page.locator('input[name=amount]:checked').inputValue()).toBe('40');
    await window.page.getByRole('radio', { name: '$20', exact: true }).check();
    if (withScript) await fine('wallet');
    await press('button', 'Continue to payment');
    expect(await heading()).toBe('Pay $20.00');
    if (withScript) await fine('order');
    await press('link', 'Continue to payment');
    await press('link', 'Pay');
    expect(await heading()).toBe('Confirming your $20.00 payment');
    expect(await main()).not.toContain('Incomplete');
    expect(await window.page.getByRole('link', { name: 'Continue to payment' }).count()).toBe(0);
    if (withScript) await fine('confirming');
    const session = world.stripe.lastSession;
    expect(await world.tell(completed(session, `pi_${session.id}`))).toBe(200);
    await press('link', 'Refresh');
    expect(await heading()).toBe('$20.00 added');
    if (withScript) await fine('paid');
    await press('link', 'Back to wallet');
    const row = window.page.getByRole('row').nth(1);
    expect(await row.innerText()).toMatch(/Payment[^]*\+\$20\.00[^]*Paid/);
  });

  it('reports an invalid custom amount, and can be abandoned and resumed', async () => {
    await open(payer, '/wallet');
    await mouse.fill(window.page, /^Other amount/, '4');
    await press('button', 'Continue to payment');
    expect(await window.page.title()).toMatch(/^Error: /);
    expect(await window.page.locator('#other-error').innerText()).toContain('from $5.00 to $500.00');
    expect(await window.page.getByLabel(/^Other amount/).inputValue()).toBe('4');
    expect(await window.page.locator('input[name=amount]:checked').count()).toBe(0);
    await fine('refused');
    await mouse.fill(window.page, /^Other amount/, '7.50');
    await begin();
    await press('link', 'Back');
    expect(await heading()).toBe('Payment of $7.50 not completed');
    expect(await main()).toContain('You were not charged');
    await fine('cancelled');
    await press('link', 'Back to wallet');
    await fine('open');
    await press('link', 'Continue to payment of $7.50');
    await press('link', 'Pay');
    expect(await heading()).toBe('Confirming your $7.50 payment');
  });

  it('shows why it failed, on its page and in the list of top-ups', async () => {
    await open(payer, '/wallet');
    await begin();
    const session = world.stripe.lastSession;
    const declined = { message: 'Your card was declined.' };
    const payment = { id: 'pi_declined', metadata: session['metadata'], last_payment_error: declined };
    await world.tell(anEvent('payment_intent.payment_failed', payment));
    await press('link', 'Back');
    await window.page.goto('/wallet');
    expect(await window.page.getByRole('row').nth(1).innerText()).toContain(
      'Your card was declined. You can try again.',
    );
    await window.page.getByRole('row').nth(1).getByRole('link', { name: 'Payment', exact: true }).click();
    await window.page.waitForURL('**/wallet/payments/*');
    expect(await main()).toContain('Your card was declined. You can try again.');
    await world.tell(anEvent('checkout.session.expired', { ...session, status: 'expired' }));
    await window.page.reload();
    expect(await heading()).toBe('Payment of $40.00 not completed');
    expect(await main()).toContain('Your card was declined. You were not charged.');
    await fine('declined');
    await press('link', 'Back to wallet');
    const row = window.page.getByRole('row').nth(1);
    expect(await row.innerText()).toMatch(/\$40\.00[^]*Expired[^]*Your card was declined\. You were not charged\./);
    await fine('list');
  });

  it.each([
    ['with script', true],
    ['without script', false],
  ])('is shown to administrators until resolved when it does not match its order, %s', async (_, withScript) => {
    await open(payer, '/wallet', withScript);
    await begin();
    const session = world.stripe.lastSession;
    await world.tell(completed(session, `pi_${session.id}`, { amount_total: 4100 }));
    await window.close();
    await open(operator, '/admin', withScript);
    await press('link', 'Open payment problems');
    expect(await main()).toContain('Its amount is $41, but its order is for $40');
    if (withScript) await fine('problems');
    await press('link', `Resolve ${session.id}`);
    await press('button', 'Resolve problem');
    expect(await window.page.title()).toMatch(/^Error: /);
    expect(await window.page.locator('#reason-error').innerText()).toContain('Enter the resolution');
    if (withScript) await fine('problem');
    await mouse.fill(window.page, /^Resolution/, 'Given back at Stripe.');
    await press('button', 'Resolve problem');
    expect(await main()).toContain('Payment problem resolved');
    expect(await main()).toContain('No payment problems');
    if (withScript) await fine('problems-none');
  });

  it('reports that Stripe does not respond, and keeps the amount', async () => {
    world.stripe.failure = { status: 500, message: 'Down.' };
    await open(payer, '/wallet');
    await mouse.fill(window.page, /^Other amount/, '33');
    await press('button', 'Continue to payment');
    world.stripe.failure = undefined;
    const summary = window.page.getByRole('alert');
    expect(await summary.innerText()).toContain('You were not charged.');
    expect(await summary.getByRole('link').count()).toBe(0);
    expect(await summary.and(window.page.locator(':focus')).count()).toBe(1);
    expect(await window.page.getByLabel(/^Other amount/).inputValue()).toBe('33');
    await fine('unavailable');
  });
});
