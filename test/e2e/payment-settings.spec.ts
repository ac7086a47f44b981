import { Settings } from '../../src/settings/index.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor, Visited } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

const PAGE = '/admin/settings';
const SECRETS = { secretKey: 'sk_test_of_a_test', webhookSecret: 'whsec_of_a_test' } as const;
const TYPED = { enabled: 'yes', secretKey: '', webhookSecret: '', amounts: '10, 25', smallest: '5', largest: '500' };

describe('the settings of payment', () => {
  let relay: RelayApp;
  let operator: PageVisitor;

  beforeEach(async () => {
    relay = await RelayApp.start();
    operator = (await operatorVisit(relay)).browser;
  });
  afterEach(() => relay.close());

  const save = async (fields: Partial<typeof TYPED>): Promise<Visited> => {
    const { text } = await operator.get(PAGE);
    const revision = /action="\/admin\/settings\/payment".*?name="revision" value="(\d+)"/s.exec(text)?.[1] ?? '';
    return operator.post(`${PAGE}/payment`, { revision, ...TYPED, ...fields });
  };

  it('open payments once both secrets are saved, and never show these again', async () => {
    const { browser } = await operatorVisit(relay);
    expect((await browser.get('/wallet')).text).not.toContain('action="/wallet/payments"');
    expect((await save({ ...SECRETS, amounts: '7.50, 30' })).location).toBe(PAGE);
    const shown = (await operator.get(PAGE)).text;
    for (const secret of Object.values(SECRETS)) expect(shown).not.toContain(secret);
    expect(shown).toContain('One is stored. Leave this empty to keep it.');
    const { text } = await browser.get('/wallet');
    expect(text).toContain('action="/wallet/payments"');
    for (const amount of ['$7.50', '$30']) expect(text).toContain(`<span>${amount}</span>`);
  });

  it('keep secrets that are not typed anew, and are closed by their switch', async () => {
    await save(SECRETS);
    await save({ enabled: '' });
    const { payment } = relay.get(Settings).current();
    expect(payment.off).toBe('Payments are switched off. What was begun before is still taken.');
    expect(payment.secretKey?.reveal()).toBe(SECRETS.secretKey);
    expect(payment.webhookSecret?.reveal()).toBe(SECRETS.webhookSecret);
  });

  it.each([
    ['secretKey', 'pk_test_of_a_test', 'Enter a secret or restricted key: it begins with sk_ or rk_.'],
    ['webhookSecret', 'of_a_test', 'Enter the signing secret of the endpoint: it begins with whsec_.'],
    ['amounts', '10, many', 'Enter dollars and cents, such as 10, 25, 50: 0.50 at least, separated by commas.'],
    ['largest', '4', 'Enter no less than the smallest amount.'],
  ])('say what is wrong with %s, and save nothing', async (field, typed, fault) => {
    const { status, text } = await save({ ...SECRETS, [field]: typed });
    expect(status).toBe(422);
    expect(text).toContain(`<a href="#${field}">${fault}</a>`);
    expect(relay.get(Settings).current().payment.secretKey).toBeUndefined();
  });
});
