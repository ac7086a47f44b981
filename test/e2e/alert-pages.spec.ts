import { DataSource } from 'typeorm';
import { AccountNotices, ThresholdWatch } from '../../src/keys/alerts/index.js';
import { AccountDeletion } from '../../src/keys/onboarding/index.js';
import { useAccountPages } from '../support/account-pages.js';
import type { PageVisitor } from '../support/page-visitor.js';

/** All of the form as it stands for an account that has saved nothing. */
const DEFAULT = {
  walletBelow: '',
  quotaPercent: '80',
  quotaUsedUp: 'yes',
  budgetPercent: '80',
  budgetUsedUp: 'yes',
  expiryDays: '7',
  newNetwork: 'yes',
  unusualVolume: 'yes',
};
const PAGE = '/account/alerts';

describe('the page of alerts', () => {
  const pages = useAccountPages();
  let email: string;
  let ann: PageVisitor;
  beforeEach(async () => {
    email = await pages.account();
    ann = await pages.signedIn(email);
  });

  /** What the fields of the page have in them. */
  const shown = async (): Promise<Record<string, string>> => {
    const { text } = await ann.get(PAGE);
    return Object.fromEntries(
      Object.keys(DEFAULT).map((name) => {
        const [field = ''] = new RegExp(`<input[^>]* name="${name}"[^>]*>`).exec(text) ?? [];
        const value = / value="([^"]*)"/.exec(field)?.[1] ?? '';
        return [name, field.includes('checkbox') && !field.includes(' checked') ? '' : value];
      }),
    );
  };

  it('is reached from the account, and shows what holds until something is saved', async () => {
    expect((await ann.get('/account')).text).toContain(`href="${PAGE}"`);
    expect(await shown()).toEqual(DEFAULT);
    expect((await ann.get(PAGE)).text).toContain(email);
  });

  it('keeps what is saved, and an empty field or box is off', async () => {
    const response = await ann.submit(PAGE, { walletBelow: '$1,234.5', quotaPercent: '50', quotaUsedUp: 'yes' });
    expect([response.status, response.location]).toEqual([303, PAGE]);
    expect((await ann.follow(response)).text).toContain('Alerts saved');
    expect(await shown()).toEqual({
      walletBelow: '1234.5',
      quotaPercent: '50',
      quotaUsedUp: 'yes',
      budgetPercent: '',
      budgetUsedUp: '',
      expiryDays: '',
      newNetwork: '',
      unusualVolume: '',
    });
  });

  it.each([
    ['walletBelow', '0', 'Enter an amount in dollars, such as 5 or 12.50, or leave empty for no email.'],
    ['walletBelow', 'much', 'Enter an amount in dollars, such as 5 or 12.50, or leave empty for no email.'],
    ['quotaPercent', '100', 'Enter an integer from 1 to 99, or leave empty for no email.'],
    ['budgetPercent', '12.5', 'Enter an integer from 1 to 99, or leave empty for no email.'],
    ['expiryDays', '366', 'Enter 1 to 365 days, or leave empty for no email.'],
    ['newNetwork', 'perhaps', 'Select or clear the checkbox.'],
  ])('refuses %s “%s”, keeps what was typed, and saves nothing', async (field, value, fault) => {
    const response = await ann.submit(PAGE, { ...DEFAULT, [field]: value });
    expect(response.status).toBe(422);
    expect(response.text).toContain(fault);
    if (field !== 'newNetwork') expect(response.text).toMatch(new RegExp(`name="${field}"[^>]* value="${value}"`));
    expect(await shown()).toEqual(DEFAULT);
  });

  it('knows no field of another account', async () => {
    expect((await ann.submit(PAGE, { ...DEFAULT, accountId: 'acc_other' })).status).toBe(422);
  });

  it('has nothing left of an account that was deleted, and neither have the mails', async () => {
    await ann.submit(PAGE, { ...DEFAULT, walletBelow: '100' });
    const sql = pages.relay.get(DataSource);
    const [row] = await sql.query<{ id: string }[]>('SELECT id FROM accounts WHERE email = $1', [email]);
    const accountId = row?.id ?? '';
    await pages.relay.get(ThresholdWatch).scan();
    await pages.relay.get(AccountNotices).raise({
      kind: 'new-network',
      accountId,
      keyId: 'key_1',
      occasion: '203.0.113.0/24',
      words: { subject: 's', heading: 'h', paragraphs: ['p'], button: { label: 'b', path: '/keys' } },
    });
    const left = () => sql.query('SELECT kind FROM alerts WHERE account_id = $1 ORDER BY 1', [accountId]);
    expect(await left()).toEqual([{ kind: 'new-network' }, { kind: 'wallet' }]);
    await pages.relay.get(AccountDeletion).run(accountId);
    expect(await left()).toEqual([]);
    expect(await sql.query('SELECT FROM alert_settings WHERE account_id = $1', [accountId])).toEqual([]);
  });

  it('requires a sign-in', async () => {
    expect((await pages.visitor().get(PAGE)).location).toMatch(/^\/sign-in/);
  });
});
