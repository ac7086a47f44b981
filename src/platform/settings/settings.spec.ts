import { Config } from '../config/index.js';
import { parseUsd } from '../shared/index.js';
import { changedLines } from './changed-lines.js';
import { currentSettings } from './current-settings.js';
import { MailPassword } from './mail-password.js';
import { PaymentSecrets } from './payment-secrets.js';
import { readSection, type SectionName, type Sections } from './sections/sections.js';
import { InvalidSettings } from './settings.errors.js';
import { TypedSections } from './typed-sections.js';

const configOf = (environment: Readonly<Record<string, string>> = {}): Config =>
  Config.fromEnvironment({ SECRET_KEY: 's'.repeat(32), ...environment });

/** Sections of which those that are given were saved. */
const stored = (given: Partial<Record<SectionName, Readonly<Record<string, unknown>>>> = {}): Sections => ({
  site: readSection('site', given.site ?? {}),
  signUp: readSection('signUp', given.signUp ?? {}),
  mail: readSection('mail', given.mail ?? {}),
  payment: readSection('payment', given.payment ?? {}),
  retention: readSection('retention', given.retention ?? {}),
});

const openersFor = (config: Config) => ({ password: new MailPassword(config), payment: new PaymentSecrets(config) });

const holdingUnder = (environment: Readonly<Record<string, string>>, sections: Sections) => {
  const config = configOf(environment);
  return currentSettings(sections, config, openersFor(config));
};

const faultsOf = (name: SectionName, given: Readonly<Record<string, unknown>>): readonly string[] =>
  faultsIn(() => readSection(name, given));

const faultsIn = (reading: () => unknown): readonly string[] => {
  try {
    reading();
    return [];
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    return Object.keys(error.faults);
  }
};

describe('what holds', () => {
  const SAVED = stored({
    site: { name: 'Acme', supportContact: 'help@acme.example' },
    signUp: { mode: 'closed', domains: ['acme.example'], startingCredit: '3', sessionIdleHours: 24 },
    mail: { server: 'smtp://mail.acme.example', from: 'relay@acme.example' },
    retention: { callsMonths: 6 },
  });

  it('is what was saved where the environment says nothing', () => {
    const { site, signUp, signIn, mail, retention } = holdingUnder({}, SAVED);
    expect(site).toMatchObject({ name: 'Acme', supportContact: 'help@acme.example' });
    expect(signUp).toEqual({ mode: 'closed', domains: ['acme.example'], startingCredit: parseUsd('3') });
    expect(signIn.sessionIdleHours).toBe(24);
    expect([mail.smtpUrl?.reveal(), mail.from]).toEqual(['smtp://mail.acme.example', 'relay@acme.example']);
    expect(retention.callsMonths).toBe(6);
  });

  it('is what the environment says where it says something, even what would hold without it', () => {
    const environment = {
      SIGN_UP: 'open',
      SIGN_UP_DOMAINS: 'other.example',
      STARTING_CREDIT: '0',
      SESSION_IDLE_HOURS: '336',
      SUPPORT_CONTACT: 'https://help.example',
      SMTP_URL: 'smtp://other.example',
      MAIL_FROM: 'Other <other@other.example>',
      CALLS_RETENTION_MONTHS: '24',
    };
    const { site, signUp, signIn, mail, retention } = holdingUnder(environment, SAVED);
    expect(signIn.sessionIdleHours).toBe(336);
    expect(retention.callsMonths).toBe(24);
    expect(site.supportContact).toBe('https://help.example');
    expect(signUp).toEqual({ mode: 'open', domains: ['other.example'], startingCredit: 0n });
    expect([mail.smtpUrl?.reveal(), mail.from]).toEqual(['smtp://other.example', 'Other <other@other.example>']);
  });

  it('is decided field by field', () => {
    const { signUp } = holdingUnder({ SIGN_UP: 'invite' }, SAVED);
    expect(signUp).toEqual({ mode: 'invite', domains: ['acme.example'], startingCredit: parseUsd('3') });
  });

  it('has mail come from the site, under its name, when nobody says from whom', () => {
    expect(holdingUnder({}, stored({ site: { name: 'The "A\\B" relay' } })).mail.from).toBe(
      String.raw`"The \"A\\B\" relay" <switchboard@localhost>`,
    );
  });
});

describe('a section', () => {
  it('is understood as it is stored and as people type it', () => {
    expect(
      readSection('signUp', { mode: 'open', domains: ' Example.com,\r\nacme.example ', startingCredit: ' 0.50 ' }),
    ).toEqual({
      mode: 'open',
      domains: ['example.com', 'acme.example'],
      startingCredit: '0.50',
      administratorsNeedSecondFactor: false,
      sessionIdleHours: 336,
    });
    expect(readSection('site', { name: ' Acme ', terms: 'One.\r\n\r\nTwo.', statusIsPublic: 'yes' })).toEqual({
      name: 'Acme',
      supportContact: '',
      terms: 'One.\n\nTwo.',
      statusIsPublic: true,
    });
    expect(readSection('signUp', { sessionIdleHours: ' 24 ' }).sessionIdleHours).toBe(24);
    expect(readSection('retention', { callsMonths: ' 12 ' }).callsMonths).toBe(12);
    expect(readSection('retention', { callsMonths: '' }).callsMonths).toBeNull();
  });

  it.each<[SectionName, Readonly<Record<string, unknown>>, readonly string[]]>([
    ['site', { name: '' }, ['name']],
    ['site', { name: 'x'.repeat(61), supportContact: 'x'.repeat(201) }, ['name', 'supportContact']],
    ['site', { statusIsPublic: 'perhaps' }, ['statusIsPublic']],
    ['signUp', { mode: 'sometimes' }, ['mode']],
    ['signUp', { domains: 'example.com, not a domain' }, ['domains']],
    ['signUp', { domains: 5, startingCredit: '-1' }, ['domains', 'startingCredit']],
    ['signUp', { startingCredit: '1.0000000001' }, ['startingCredit']],
    ...['', '0', '721', '1.5', 'a week'].map(
      (typed): [SectionName, Readonly<Record<string, unknown>>, readonly string[]] => [
        'signUp',
        { sessionIdleHours: typed },
        ['sessionIdleHours'],
      ],
    ),
    ['mail', { server: 'mail.example.com' }, ['server']],
    ['mail', { server: 'smtp://relay:secret@mail.example.com' }, ['server']],
    ['mail', { server: 'smtp://mail.example.com/path' }, ['server']],
    ['mail', { from: 'nobody' }, ['from']],
    ['mail', { from: 'A <a@example.com>\r\nBcc: eve@example.com' }, ['from']],
    ['payment', { amounts: '10, 0.4' }, ['amounts']],
    ['payment', { amounts: '' }, ['amounts']],
    ['payment', { amounts: '1,2,3,4,5,6,7' }, ['amounts']],
    ['payment', { smallest: '0', largest: '1.234' }, ['smallest', 'largest']],
    ['payment', { smallest: '10', largest: '9.99' }, ['largest']],
    ['retention', { callsMonths: '0' }, ['callsMonths']],
    ['retention', { callsMonths: '1.5' }, ['callsMonths']],
    ['retention', { callsMonths: 'a year' }, ['callsMonths']],
  ])('%s is refused when it is %j, with what to enter at each field', (name, given, fields) => {
    expect(faultsOf(name, given)).toEqual(fields);
  });

  it('leaves out what a later version has stored', () => {
    expect(readSection('retention', { callsMonths: 3, wallets: 7 })).toEqual({ callsMonths: 3 });
  });

  it('keeps what is stored where the environment wins, whatever is sent', () => {
    const config = configOf({ SIGN_UP: 'closed', SMTP_URL: 'smtp://fixed.example' });
    const typed = new TypedSections(config, new MailPassword(config), new PaymentSecrets(config));
    const before = readSection('signUp', { mode: 'invite' });
    expect(typed.read('signUp', { mode: 'open', startingCredit: '1' }, before)).toMatchObject({
      mode: 'invite',
      startingCredit: '1',
    });
    const mail = readSection('mail', {});
    expect(
      typed.read('mail', { server: 'smtp://a@b.example', serverPassword: 'p', sealedPassword: 'v1.x' }, mail),
    ).toEqual(mail);
  });

  it('takes no password for a server without a user, nor a sealed one from outside', () => {
    const config = configOf();
    const typed = new TypedSections(config, new MailPassword(config), new PaymentSecrets(config));
    const before = readSection('mail', {});
    expect(() => typed.read('mail', { server: 'smtp://b.example', serverPassword: 'p' }, before)).toThrow(
      'Include the user name',
    );
    expect(typed.read('mail', { server: 'smtp://b.example', sealedPassword: 'v1.x' }, before)).toMatchObject({
      sealedPassword: '',
    });
  });
});

describe('the lines of a change', () => {
  it('say of each field what it was and what it is, but neither a secret nor a long text', () => {
    const before = readSection('mail', { server: 'smtp://a@b.example', sealedPassword: 'v1.one' });
    const after = readSection('mail', { sealedPassword: 'v1.two', from: 'a@b.example' });
    expect(changedLines('mail', before, after)).toEqual([
      'server smtp://a@b.example → (none)',
      'password changed',
      'sender (none) → a@b.example',
    ]);
    expect(
      changedLines('retention', readSection('retention', {}), readSection('retention', { callsMonths: 6 })),
    ).toEqual(['months of usage logs all → 6']);
  });
});

describe('payments', () => {
  const TYPED = { enabled: 'yes', secretKey: ' sk_test_1 ', webhookSecret: 'whsec_1' };
  const read = (typed: Readonly<Record<string, unknown>>, before = stored().payment, environment = {}) => {
    const config = configOf(environment);
    return new TypedSections(config, new MailPassword(config), new PaymentSecrets(config)).read(
      'payment',
      typed,
      readSection('payment', { ...before }),
    );
  };
  const heldWith = (environment: Readonly<Record<string, string>>, given: Readonly<Record<string, unknown>>) => {
    const { secretKey, webhookSecret, off } = holdingUnder(environment, stored({ payment: given })).payment;
    return { key: secretKey?.reveal(), webhook: webhookSecret?.reveal(), off };
  };

  it('are off until both secrets are there, and as long as they are disabled, and it is said why', () => {
    expect(heldWith({}, {})).toMatchObject({ off: 'not configured' });
    expect(heldWith({ STRIPE_WEBHOOK_SECRET: 'whsec_e' }, {})).toMatchObject({ off: 'no secret key' });
    expect(heldWith({ STRIPE_SECRET_KEY: 'sk_test_e', STRIPE_WEBHOOK_SECRET: '' }, {})).toMatchObject({
      key: 'sk_test_e',
      webhook: undefined,
      off: 'no signing secret',
    });
    const both = { STRIPE_SECRET_KEY: 'sk_test_e', STRIPE_WEBHOOK_SECRET: 'whsec_e' };
    expect(heldWith(both, {})).toEqual({ key: 'sk_test_e', webhook: 'whsec_e', off: undefined });
    // What was begun before is still taken.
    expect(heldWith(both, { enabled: false })).toMatchObject({
      webhook: 'whsec_e',
      off: 'disabled',
    });
  });

  it('keep their secrets sealed, each for its place, and open under the same key alone', () => {
    const section = read(TYPED);
    expect(JSON.stringify(section)).not.toMatch(/sk_test_1|whsec_1/);
    expect(heldWith({}, { ...section })).toEqual({ key: 'sk_test_1', webhook: 'whsec_1', off: undefined });
    const swapped = { sealedSecretKey: section.sealedWebhookSecret, sealedWebhookSecret: section.sealedSecretKey };
    expect(heldWith({}, { ...section, ...swapped })).toMatchObject({
      webhook: undefined,
      off: 'unreadable secret',
    });
    expect(heldWith({ SECRET_KEY: 'o'.repeat(32) }, { ...section })).toMatchObject({ key: undefined });
  });

  it('lose one secret that cannot be opened, and not the other with it', () => {
    const section = read(TYPED);
    const held = (given: Readonly<Record<string, unknown>>, environment = {}) =>
      holdingUnder(environment, stored({ payment: { ...section, ...given } })).payment;
    const { unreadable, webhookSecret, off } = held({ sealedSecretKey: section.sealedWebhookSecret });
    expect([unreadable, webhookSecret?.reveal(), off]).toEqual([['secretKey'], 'whsec_1', 'unreadable secret']);
    const other = held({}, { SECRET_KEY: 'o'.repeat(32), STRIPE_WEBHOOK_SECRET: 'whsec_e' });
    expect([other.unreadable, other.webhookSecret?.reveal()]).toEqual([['secretKey'], 'whsec_e']);
  });

  it('keep a secret that is not typed again, and take none that is sealed outside', () => {
    const section = read(TYPED);
    expect(read({ enabled: 'yes', sealedSecretKey: 'v1.x' }, section)).toMatchObject({
      sealedSecretKey: section.sealedSecretKey,
      sealedWebhookSecret: section.sealedWebhookSecret,
    });
    expect(read({ secretKey: 'sk_test_2' }, section, { STRIPE_SECRET_KEY: 'sk_test_e' })).toMatchObject({
      sealedSecretKey: section.sealedSecretKey,
    });
  });

  it('remove a secret that is stored when told to, which the record of changes names, and none that the environment sets', () => {
    const section = read(TYPED);
    const without = read({ enabled: 'yes', removeSecretKey: 'yes' }, section);
    expect(without).toMatchObject({ sealedSecretKey: '', sealedWebhookSecret: section.sealedWebhookSecret });
    expect(changedLines('payment', section, without)).toEqual(['secret key removed']);
    expect(read({ removeWebhookSecret: 'yes' }, section).sealedWebhookSecret).toBe('');
    expect(read({ removeSecretKey: 'yes' }, section, { STRIPE_SECRET_KEY: 'sk_test_e' })).toMatchObject({
      sealedSecretKey: section.sealedSecretKey,
    });
  });

  it.each([
    [{ secretKey: 'pk_test_1' }, ['secretKey']],
    [{ webhookSecret: 'sk_test_1' }, ['webhookSecret']],
    [{ secretKey: 'sk_test_1', removeSecretKey: 'yes' }, ['secretKey']],
    [{ secretKey: 'pk_test_1', webhookSecret: 'x', largest: '1' }, ['secretKey', 'webhookSecret', 'largest']],
  ])('refuse %j with all that is wrong at once', (typed, fields) => {
    expect(faultsIn(() => read(typed))).toEqual(fields);
  });
});
