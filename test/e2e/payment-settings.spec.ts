import { DataSource } from 'typeorm';
import { Settings } from '../../src/platform/settings/index.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor, PageResponse } from '../support/page-visitor.js';
import { anEvent, signatureOf } from '../support/payments-world.js';
import { RelayApp } from '../support/relay-app.js';

const PAGE = '/admin/settings/payment';
const SECRETS = { secretKey: 'sk_test_of_a_test', webhookSecret: 'whsec_of_a_test' } as const;
const UNREADABLE = 'The stored secret cannot be decrypted. Enter it again.';
const TYPED = { enabled: 'yes', secretKey: '', webhookSecret: '', amounts: '10, 25', smallest: '5', largest: '500' };

describe('payment settings', () => {
  let relay: RelayApp;
  let operator: PageVisitor;

  beforeEach(async () => {
    relay = await RelayApp.start();
    operator = (await operatorVisit(relay)).browser;
  });
  afterEach(() => relay.close());

  const save = async (fields: Readonly<Record<string, string>>): Promise<PageResponse> => {
    const { text } = await operator.get(PAGE);
    const revision = /action="\/admin\/settings\/payment".*?name="revision" value="(\d+)"/s.exec(text)?.[1] ?? '';
    return operator.post(PAGE, { revision, ...TYPED, ...fields });
  };

  it('enable payments once both secrets are saved, and never show the secrets', async () => {
    const { browser } = await operatorVisit(relay);
    expect((await browser.get('/wallet')).text).not.toContain('action="/wallet/payments"');
    expect((await browser.get('/')).text).toContain('Redeem a code, or add credit under Users.');
    expect((await save({ ...SECRETS, amounts: '7.50, 30' })).location).toBe(PAGE);
    const shown = (await operator.get(PAGE)).text;
    for (const secret of Object.values(SECRETS)) expect(shown).not.toContain(secret);
    expect(shown).toContain('A secret is stored. Leave empty to keep it.');
    expect((await browser.get('/')).text).toContain('Pay with Stripe, redeem a code, or add credit');
    const { text } = await browser.get('/wallet');
    expect(text).toContain('action="/wallet/payments"');
    for (const amount of ['$7.50', '$30']) expect(text).toContain(`<span>${amount}</span>`);
  });

  it('keep secrets whose fields are empty, also when payments are disabled', async () => {
    await save(SECRETS);
    await save({ enabled: '' });
    const { payment } = relay.get(Settings).current();
    expect(payment.off).toBe('disabled');
    expect((await operator.get(PAGE)).text).toContain('Payments are disabled');
    expect(payment.secretKey?.reveal()).toBe(SECRETS.secretKey);
    expect(payment.webhookSecret?.reveal()).toBe(SECRETS.webhookSecret);
  });

  it('show setup steps without a warning when payments were never set up', async () => {
    const { text } = await operator.get(PAGE);
    expect(text).toContain('Payments are not set up');
    expect(text).toContain('<a href="#secretKey">Enter the secrets</a>');
    expect(text).not.toContain('Users cannot pay<');
  });

  it('remove one secret and keep the other', async () => {
    await save(SECRETS);
    expect((await save({ removeSecretKey: 'yes' })).location).toBe(PAGE);
    const { payment } = relay.get(Settings).current();
    expect([payment.secretKey, payment.webhookSecret?.reveal()]).toEqual([undefined, SECRETS.webhookSecret]);
    const { text } = await operator.get(PAGE);
    expect(text).not.toContain('name="removeSecretKey"');
    expect(text).toContain('name="removeWebhookSecret"');
  });

  it('report a secret that cannot be decrypted at its field, and keep using the other', async () => {
    await save(SECRETS);
    // As good as sealed under another key: it was sealed for another place.
    await relay
      .get(DataSource)
      .query(
        `UPDATE settings SET value = value || jsonb_build_object('sealedSecretKey', value->'sealedWebhookSecret')`,
      );
    await relay.get(Settings).reload();
    const { text } = await operator.get(PAGE);
    expect(text).toContain(`<p class="hint" id="secretKey-hint">${UNREADABLE}</p>`);
    expect(text.split(UNREADABLE)).toHaveLength(2);
    const event = anEvent('customer.created', { id: 'cus_1' });
    const response = await fetch(`${relay.url}/webhooks/stripe`, {
      method: 'POST',
      body: event,
      headers: { 'stripe-signature': signatureOf(event, SECRETS.webhookSecret) },
    });
    expect(response.status).toBe(200);
  });

  it('report all errors at once', async () => {
    const { status, text } = await save({ secretKey: 'pk_1', webhookSecret: 'x', amounts: 'many', largest: '4' });
    expect(status).toBe(422);
    for (const field of ['secretKey', 'webhookSecret', 'amounts', 'largest'])
      expect(text).toContain(`<a href="#${field}">`);
  });

  it.each([
    ['secretKey', 'pk_test_of_a_test', 'Enter a secret or restricted key (sk_… or rk_…).'],
    ['webhookSecret', 'of_a_test', 'Enter the signing secret of the endpoint (whsec_…).'],
    ['amounts', '10, many', 'Enter amounts of at least 0.50, separated by commas, such as 10, 25, 50.'],
    ['largest', '4', 'Enter at least the minimum amount.'],
  ])('report an invalid %s, and save nothing', async (field, typed, fault) => {
    const { status, text } = await save({ ...SECRETS, [field]: typed });
    expect(status).toBe(422);
    expect(text).toContain(`<a href="#${field}">${fault}</a>`);
    expect(relay.get(Settings).current().payment.secretKey).toBeUndefined();
  });
});
