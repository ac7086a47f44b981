import { Config } from '../config/index.js';
import { parseUsd } from '../shared/index.js';
import { InvalidSettings, readSection, SectionValues } from './section-values.js';
import { type SectionName, variableErrors, withoutPassword } from './sections/index.js';
import { changedLines } from './settings.editor.js';
import { type CurrentSettings, currentSettings } from './settings.service.js';

type Given = Readonly<Record<string, unknown>>;
type Variables = Readonly<Record<string, string>>;

const valuesUnder = (environment: Variables = {}): SectionValues =>
  new SectionValues(Config.fromEnvironment({ SECRET_KEY: 's'.repeat(32), ...environment }));

/** The settings in effect with these stored sections. */
const currentUnder = (environment: Variables, stored: Partial<Record<SectionName, object>>): CurrentSettings =>
  currentSettings(
    Object.entries(stored).map(([section, value]) => ({ section, value: { ...value }, revision: 1 })),
    valuesUnder(environment),
  );

const fieldsRejectedIn = (name: SectionName, given: Given): readonly string[] =>
  fieldsRejectedBy(() => readSection(name, given));

const fieldsRejectedBy = (reading: () => unknown): readonly string[] => {
  try {
    reading();
    return [];
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    return Object.keys(error.errors);
  }
};

describe('current settings', () => {
  const SAVED = {
    site: { name: 'Acme', supportContact: 'help@acme.example' },
    signUp: { mode: 'closed', domains: ['acme.example'], startingCredit: '3', sessionIdleHours: 24 },
    mail: { server: 'smtp://mail.acme.example', from: 'relay@acme.example' },
    retention: { callsMonths: 6 },
  };

  it('are the stored ones when the environment sets none', () => {
    const { site, signUp, mail, retention } = currentUnder({}, SAVED);
    expect(site).toMatchObject({ name: 'Acme', supportContact: 'help@acme.example' });
    expect(signUp).toMatchObject({ mode: 'closed', domains: ['acme.example'], startingCredit: parseUsd('3') });
    expect(signUp.sessionIdleHours).toBe(24);
    expect([mail.smtpUrl?.reveal(), mail.from]).toEqual(['smtp://mail.acme.example', 'relay@acme.example']);
    expect(retention.callsMonths).toBe(6);
  });

  it('are those of the environment when it sets them, even to a default', () => {
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
    const { site, signUp, mail, retention } = currentUnder(environment, SAVED);
    expect(signUp.sessionIdleHours).toBe(336);
    expect(retention.callsMonths).toBe(24);
    expect(site.supportContact).toBe('https://help.example');
    expect(signUp).toMatchObject({ mode: 'open', domains: ['other.example'], startingCredit: 0n });
    expect([mail.smtpUrl?.reveal(), mail.from]).toEqual(['smtp://other.example', 'Other <other@other.example>']);
  });

  it('can be overridden one by one', () => {
    const { signUp } = currentUnder({ SIGN_UP: 'invite' }, SAVED);
    expect(signUp).toMatchObject({ mode: 'invite', domains: ['acme.example'], startingCredit: parseUsd('3') });
  });

  it('have a sender with the name of the site when none is set', () => {
    expect(currentUnder({}, { site: { name: 'The "A\\B" relay' } }).mail.from).toBe(
      String.raw`"The \"A\\B\" relay" <switchboard@localhost>`,
    );
  });
});

describe('a section', () => {
  it('is read as stored and as typed', () => {
    expect(
      readSection('signUp', { mode: 'open', domains: ' Example.com,\r\nacme.example ', startingCredit: ' 0.50 ' }),
    ).toMatchObject({
      mode: 'open',
      domains: ['example.com', 'acme.example'],
      startingCredit: '0.50',
      administratorsNeedSecondFactor: false,
      sessionIdleHours: 336,
    });
    expect(readSection('site', { name: ' Acme ', terms: 'One.\r\n\r\nTwo.', statusIsPublic: 'yes' })).toMatchObject({
      name: 'Acme',
      supportContact: '',
      terms: 'One.\n\nTwo.',
      statusIsPublic: true,
    });
    expect(readSection('signUp', { sessionIdleHours: ' 24 ' }).sessionIdleHours).toBe(24);
    expect(readSection('retention', { callsMonths: ' 12 ' }).callsMonths).toBe(12);
    expect(readSection('retention', { callsMonths: '' }).callsMonths).toBeNull();
  });

  it.each<[SectionName, Given, readonly string[]]>([
    ['site', { name: '' }, ['name']],
    ['site', { name: 'x'.repeat(61), supportContact: 'x'.repeat(201) }, ['name', 'supportContact']],
    ['site', { statusIsPublic: 'perhaps' }, ['statusIsPublic']],
    ['signUp', { mode: 'sometimes' }, ['mode']],
    ['signUp', { domains: 'example.com, not a domain' }, ['domains']],
    ['signUp', { domains: 5, startingCredit: '-1' }, ['startingCredit', 'domains']],
    ['signUp', { startingCredit: '1.0000000001' }, ['startingCredit']],
    ...['', '0', '721', '1.5', 'a week'].map((typed): [SectionName, Given, readonly string[]] => [
      'signUp',
      { sessionIdleHours: typed },
      ['sessionIdleHours'],
    ]),
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
  ])('%s is rejected with an error per field when it is %j', (name, given, fields) => {
    expect(fieldsRejectedIn(name, given)).toEqual(fields);
  });

  it('drops values that a later version has stored', () => {
    expect(readSection('retention', { callsMonths: 3, wallets: 7 })).toEqual({ callsMonths: 3 });
  });

  it('keeps stored values that the environment overrides, whatever is sent', () => {
    const values = valuesUnder({ SIGN_UP: 'closed', SMTP_URL: 'smtp://fixed.example' });
    const before = readSection('signUp', { mode: 'invite' });
    expect(values.typed('signUp', { mode: 'open', startingCredit: '1' }, before)).toMatchObject({
      mode: 'invite',
      startingCredit: '1',
    });
    const mail = readSection('mail', {});
    expect(
      values.typed('mail', { server: 'smtp://a@b.example', serverPassword: 'p', sealedPassword: 'v1.x' }, mail),
    ).toEqual(mail);
  });

  it('rejects a password for a server without a user, and ignores an encrypted one that is sent', () => {
    const values = valuesUnder();
    const before = readSection('mail', {});
    expect(() => values.typed('mail', { server: 'smtp://b.example', serverPassword: 'p' }, before)).toThrow(
      'Include the user name',
    );
    expect(values.typed('mail', { server: 'smtp://b.example', sealedPassword: 'v1.x' }, before)).toMatchObject({
      sealedPassword: '',
    });
  });
});

describe('environment variables of settings', () => {
  it('are rejected with the error of the setting, and without their value', () => {
    const errors = (variables: Variables) => variableErrors((name) => variables[name]);
    expect(
      errors({ SESSION_IDLE_HOURS: '721', SIGN_UP: 'sometimes', STRIPE_SECRET_KEY: 'pk_1', MAIL_FROM: '' }),
    ).toEqual([
      'SIGN_UP: choose one of open, invite, closed',
      'SESSION_IDLE_HOURS: enter 1 to 720 hours',
      'STRIPE_SECRET_KEY: enter a secret or restricted key (sk_… or rk_…)',
    ]);
    expect(errors({ SMTP_URL: 'smtps://relay:hunter2@mail.example.com:465' })).toEqual([]);
  });

  it('are shown as the settings are, without secrets', () => {
    const values = valuesUnder({
      SIGN_UP: 'invite',
      STARTING_CREDIT: '5',
      SESSION_IDLE_HOURS: '48',
      SMTP_URL: 'smtp://relay:hunter2@mail.example.com',
      STRIPE_SECRET_KEY: 'sk_test_1',
      CALLS_RETENTION_MONTHS: '6',
    });
    expect(values.fixed('signUp')).toEqual({
      mode: { variable: 'SIGN_UP', value: 'Invitation only' },
      startingCredit: { variable: 'STARTING_CREDIT', value: '$5' },
      sessionIdleHours: { variable: 'SESSION_IDLE_HOURS', value: '48 hours' },
    });
    expect(values.fixed('mail')['server']?.value).toBe('smtp://relay@mail.example.com');
    expect(values.fixed('payment')['sealedSecretKey']?.value).toBe('Hidden');
    expect(values.fixed('retention')['callsMonths']?.value).toBe('6 months');
  });
});

describe('withoutPassword', () => {
  it.each([
    ['smtp://relay:a%40b@mail.example.com:587', 'smtp://relay@mail.example.com:587', 'a@b'],
    ['smtps://relay:100%@mail.example.com', 'smtps://relay@mail.example.com', '100%'],
    ['smtp://relay@mail.example.com', 'smtp://relay@mail.example.com', ''],
    ['mail.example.com', 'mail.example.com', ''],
    ['', '', ''],
  ])('removes the password from %s', (address, server, password) => {
    expect(withoutPassword(address)).toEqual({ server, password });
  });
});

describe('the audit lines of a change', () => {
  it('contain both values of each changed setting, except for secrets and long texts', () => {
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
  const read = (typed: Given, before: Given = {}, environment: Variables = {}) =>
    valuesUnder(environment).typed('payment', typed, readSection('payment', before));
  const heldWith = (environment: Variables, given: Given) => {
    const { secretKey, webhookSecret, off } = currentUnder(environment, { payment: given }).payment;
    return { key: secretKey?.reveal(), webhook: webhookSecret?.reveal(), off };
  };

  it('are off, with the reason, until both secrets are set and payments are enabled', () => {
    expect(heldWith({}, {})).toMatchObject({ off: 'not configured' });
    expect(heldWith({ STRIPE_WEBHOOK_SECRET: 'whsec_e' }, {})).toMatchObject({ off: 'no secret key' });
    expect(heldWith({ STRIPE_SECRET_KEY: 'sk_test_e', STRIPE_WEBHOOK_SECRET: '' }, {})).toMatchObject({
      key: 'sk_test_e',
      webhook: undefined,
      off: 'no signing secret',
    });
    const both = { STRIPE_SECRET_KEY: 'sk_test_e', STRIPE_WEBHOOK_SECRET: 'whsec_e' };
    expect(heldWith(both, {})).toEqual({ key: 'sk_test_e', webhook: 'whsec_e', off: undefined });
    // Payments already started are still credited.
    expect(heldWith(both, { enabled: false })).toMatchObject({
      webhook: 'whsec_e',
      off: 'disabled',
    });
  });

  it('store their secrets encrypted, each bound to its place and to SECRET_KEY', () => {
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

  it('use the other secret when one cannot be decrypted', () => {
    const section = read(TYPED);
    const held = (given: Given, environment: Variables = {}) => heldWith(environment, { ...section, ...given });
    expect(held({ sealedSecretKey: section.sealedWebhookSecret })).toEqual({
      key: undefined,
      webhook: 'whsec_1',
      off: 'unreadable secret',
    });
    const other = held({}, { SECRET_KEY: 'o'.repeat(32), STRIPE_WEBHOOK_SECRET: 'whsec_e' });
    expect(other).toEqual({ key: undefined, webhook: 'whsec_e', off: 'unreadable secret' });
    const states = valuesUnder().secretStates('payment', { ...section, sealedSecretKey: section.sealedWebhookSecret });
    expect(states).toEqual({ secretKey: 'unreadable', webhookSecret: 'stored' });
  });

  it('keep a secret whose field is empty, and ignore an encrypted one that is sent', () => {
    const section = read(TYPED);
    expect(read({ enabled: 'yes', sealedSecretKey: 'v1.x' }, section)).toMatchObject({
      sealedSecretKey: section.sealedSecretKey,
      sealedWebhookSecret: section.sealedWebhookSecret,
    });
    expect(read({ secretKey: 'sk_test_2' }, section, { STRIPE_SECRET_KEY: 'sk_test_e' })).toMatchObject({
      sealedSecretKey: section.sealedSecretKey,
    });
  });

  it('remove a stored secret, with an audit line, unless the environment sets it', () => {
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
  ])('reject %j with all errors at once', (typed, fields) => {
    expect(fieldsRejectedBy(() => read(typed))).toEqual(fields);
  });
});
