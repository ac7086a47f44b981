import { isFQDN } from 'class-validator';
import { parseUsd } from '../../shared/index.js';
import { type CurrentValues, type SettingMap, type Section, section, type StoredValues } from './section.js';
import { choice, flag, list, optionalText, optionalWhole, secret, text, usd, whole } from './setting.js';
import { isServer, userOf, withoutPassword } from './smtp-url.js';

// All settings. A new one is declared here, in its section, and read as `settings.current().<section>.<key>`.

const NO_CONTROLS = /^[^\p{Cc}]*$/u;
const SENDER = /^(?:[^\p{Cc}<>]*<[^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+>|[^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+)?$/u;

const site = section({
  title: 'Site',
  name: 'Site',
  path: 'site',
  text: 'Service name, support contact and terms.',
  isConfirmed: false,
  settings: {
    name: text({
      label: 'Name',
      hint: 'Shown in page titles, the navigation and emails.',
      audit: 'name',
      initial: 'Switchboard',
      max: 60,
      accepts: [(name) => name !== '' && NO_CONTROLS.test(name), 'Enter a name of 1 to 60 characters.'],
    }),
    supportContact: optionalText({
      label: 'Support contact',
      hint: 'An email address or a URL.',
      audit: 'support contact',
      variable: {
        name: 'SUPPORT_CONTACT',
        meaning: 'Email address or URL for help, shown on pages.',
      },
      max: 200,
      accepts: [(contact) => NO_CONTROLS.test(contact), 'Enter an email address or a URL on one line, or leave empty.'],
    }),
    announcement: optionalText({
      label: 'Announcement',
      hint: 'Shown to signed-in users at the top of every page, for example to announce maintenance.',
      audit: 'announcement',
      max: 300,
      accepts: [(line) => NO_CONTROLS.test(line), 'Enter one line of text, or leave empty for none.'],
    }),
    terms: optionalText({
      label: 'Terms',
      hint: 'Shown at /terms; users accept them when they register. Blank lines separate paragraphs, and URLs become links.',
      audit: 'terms',
      max: 100_000,
      rows: 8,
    }),
    statusIsPublic: flag({
      label: 'Public status page',
      hint: 'If off, /status requires sign-in.',
      audit: 'status page',
      on: 'everyone',
      off: 'signed-in users',
    }),
    setupHidden: flag({
      label: 'Hide the set-up checklist',
      hint: 'The admin overview lists what remains to be set up: models, prices, sign-up, mail and backups.',
      audit: 'set-up checklist',
      on: 'hidden',
      off: 'shown',
    }),
  },
});

const signUp = section({
  title: 'Sign-up',
  name: 'Sign-up',
  path: 'sign-up',
  text: 'Registration, starting credit and sign-in policy.',
  // It can relax the sign-in policy of administrators.
  isConfirmed: true,
  settings: {
    mode: choice({
      label: 'Registration',
      hint: 'Create invitation codes with “switchboard invitation create”.',
      audit: 'registration',
      variable: {
        name: 'SIGN_UP',
        meaning: '`open`, `invite` (with an invitation code) or `closed`.',
      },
      initial: 'open',
      labels: { open: 'Open', invite: 'Invitation only', closed: 'Closed (administrators create accounts)' },
      missing: 'Choose who may create an account.',
    }),
    startingCredit: usd({
      label: 'Starting credit',
      hint: 'Granted once, when the email address is verified.',
      audit: 'starting credit',
      variable: {
        name: 'STARTING_CREDIT',
        meaning: 'US dollars credited once per verified email address.',
      },
      initial: '0',
      accepts: [
        (amount) => /^\d{1,6}(\.\d{1,9})?$/.test(amount),
        'Enter an amount in dollars, such as 5 or 0.50, or 0 for none.',
      ],
    }),
    domains: list({
      label: 'Allowed email domains',
      hint: 'One per line. Subdomains are not included.',
      audit: 'domains',
      variable: {
        name: 'SIGN_UP_DOMAINS',
        meaning: 'Comma-separated email domains that may register, without their subdomains.',
        unset: 'all',
      },
      initial: [],
      max: [100, 'domains'],
      accepts: [(domain) => isFQDN(domain), 'Enter domain names such as example.com, or leave empty.'],
      empty: { means: 'any' },
      placeholder: 'example.com',
      isOnePerLine: true,
      toCurrent: (domains) => domains,
    }),
    administratorsNeedSecondFactor: flag({
      label: 'Require two-factor authentication for administrators',
      hint: 'Administrators without two-factor authentication must set it up before they can continue.',
      audit: 'two-factor authentication for administrators',
      on: 'required',
      off: 'optional',
    }),
    passwordSignInIsOff: flag({
      label: 'Turn off sign-in with passwords',
      hint: 'Users sign in with a provider; for administrators, once one of them has. In an emergency, allow it with “switchboard sign-in local --for 1h”.',
      audit: 'password sign-in',
      on: 'off',
      off: 'on',
    }),
    sessionIdleHours: whole({
      label: 'Idle session timeout',
      hint: '1 to 720 hours (336 hours = 14 days).',
      audit: 'idle session timeout (hours)',
      variable: {
        name: 'SESSION_IDLE_HOURS',
        meaning: 'Idle [session](security.md#authentication) timeout in hours, 1–720.',
      },
      initial: 336,
      min: 1,
      max: 720,
      unit: 'hours',
    }),
  },
});

const organizations = section({
  title: 'Organizations',
  name: 'Organizations',
  path: 'organizations',
  text: 'Organizations share a wallet among members and teams with budgets.',
  isConfirmed: false,
  settings: {
    creation: choice({
      label: 'Creation',
      hint: 'The creator becomes the owner.',
      audit: 'creation of organizations',
      initial: 'everyone',
      labels: { everyone: 'Every verified user', administrators: 'Administrators only' },
      missing: 'Choose who may create organizations.',
    }),
  },
});

const SMTP_URL = {
  name: 'SMTP_URL',
  meaning: '`smtp://user:password@host:587` or `smtps://…:465`. Without it, mail is written to `DATA_DIR/outbox`.',
};

const SERVER_ERROR = 'Enter an address such as smtp://user@mail.example.com:587, or smtps:// for implicit TLS.';

const mail = section({
  title: 'Email',
  name: 'Email',
  path: 'mail',
  text: 'SMTP server for outgoing email. Without one, emails are written to the outbox folder and not sent.',
  // The mail server sees all password reset links.
  isConfirmed: true,
  settings: {
    server: {
      ...optionalText({
        label: 'SMTP server',
        hint: 'Include the user name. Use smtps:// for implicit TLS.',
        audit: 'server',
        variable: SMTP_URL,
        max: 500,
        accepts: [isServer, SERVER_ERROR],
        placeholder: 'smtp://user@mail.example.com:587',
        isMono: true,
      }),
      readVariable: (address) =>
        /^smtps?:\/\//i.test(address) && URL.canParse(address)
          ? { value: withoutPassword(address).server }
          : { error: SERVER_ERROR },
    },
    sealedPassword: secret({
      input: 'serverPassword',
      label: 'SMTP password',
      hint: 'Stored encrypted and never shown again.',
      audit: 'password',
      noun: 'password',
      variable: SMTP_URL,
      // Bound to the address: an administrator who changes it cannot have the stored password sent elsewhere.
      place: ({ server }) => (userOf(server) === '' ? undefined : `mail\n${String(server)}`),
      boundTo: {
        input: 'server',
        misplaced: 'Include the user name: smtp://user@mail.example.com:587.',
        missing: 'Enter the password again: the stored one is used only with the server and user it was saved for.',
      },
    }),
    from: optionalText({
      label: 'Sender',
      hint: 'An email address, or a name followed by one in angle brackets.',
      audit: 'sender',
      variable: { name: 'MAIL_FROM', meaning: 'Sender of mail.', unset: '`Switchboard <switchboard@localhost>`' },
      max: 200,
      accepts: [
        (sender) => SENDER.test(sender),
        'Enter an address such as relay@example.com or Name <relay@example.com>.',
      ],
      placeholder: 'Relay <relay@example.com>',
    }),
  },
});

/** Dollars and cents. */
const CENTS = /^\d{1,6}(\.\d{1,2})?$/;
/** Stripe accepts no less. */
const MIN_PAYMENT = 0.5;
const isPayable = (amount: string): boolean => CENTS.test(amount) && Number(amount) >= MIN_PAYMENT;
const NOT_PAYABLE = 'Enter an amount of at least 0.50, such as 5 or 7.50.';

const payment = section({
  title: 'Payment',
  name: 'Payment',
  path: 'payment',
  text: 'Users pay with Stripe Checkout in US dollars. Stripe handles cards and receipts.',
  // The secrets decide which account is paid.
  isConfirmed: true,
  settings: {
    enabled: flag({
      label: 'Enable payments',
      hint: 'Requires the Stripe secret key and the webhook signing secret.',
      audit: 'payments',
      initial: true,
      on: 'on',
      off: 'off',
    }),
    sealedSecretKey: secret({
      input: 'secretKey',
      label: 'Secret key',
      hint: 'A secret or restricted key. Stored encrypted and never shown again.',
      audit: 'secret key',
      noun: 'secret',
      variable: {
        name: 'STRIPE_SECRET_KEY',
        meaning: 'Key of your Stripe account for [payments](money.md#payments).',
      },
      accepts: [(key) => /^(sk|rk)_\w+$/.test(key), 'Enter a secret or restricted key (sk_… or rk_…).'],
      removal: {
        input: 'removeSecretKey',
        label: 'Remove the stored secret key',
        hint: 'Users cannot pay without it.',
      },
      place: () => 'payment\nsecretKey',
    }),
    sealedWebhookSecret: secret({
      input: 'webhookSecret',
      label: 'Signing secret',
      hint: 'Shown in Stripe next to the endpoint. Stored encrypted and never shown again.',
      audit: 'signing secret',
      noun: 'secret',
      variable: {
        name: 'STRIPE_WEBHOOK_SECRET',
        meaning: 'Signing secret of the Stripe endpoint, `whsec_…`.',
      },
      accepts: [(key) => /^whsec_[\w+/=-]+$/.test(key), 'Enter the signing secret of the endpoint (whsec_…).'],
      removal: {
        input: 'removeWebhookSecret',
        label: 'Remove the stored signing secret',
        hint: 'Pending payments can no longer be confirmed.',
      },
      place: () => 'payment\nwebhookSecret',
    }),
    amounts: list({
      label: 'Suggested amounts (US dollars)',
      hint: 'Users choose one of these. Separate with commas.',
      audit: 'amounts',
      initial: ['10', '25', '50', '100'],
      max: [6, 'amounts'],
      accepts: [isPayable, 'Enter amounts of at least 0.50, separated by commas, such as 10, 25, 50.'],
      empty: { error: 'Enter at least one amount.' },
      placeholder: '10, 25, 50, 100',
      prefix: '$',
      toCurrent: (amounts) => amounts.map(parseUsd),
    }),
    smallest: usd({
      label: 'Minimum custom amount',
      audit: 'minimum amount',
      initial: '5',
      accepts: [isPayable, NOT_PAYABLE],
    }),
    largest: usd({
      label: 'Maximum custom amount',
      audit: 'maximum amount',
      initial: '500',
      accepts: [isPayable, NOT_PAYABLE],
    }),
  },
  check({ smallest, largest }): Readonly<Record<string, string>> {
    return Number(largest) < Number(smallest) ? { largest: 'Enter at least the minimum amount.' } : {};
  },
});

const retention = section({
  title: 'Retention',
  name: 'Retention',
  path: 'retention',
  text: 'Months of usage logs to keep, in addition to the current month.',
  isConfirmed: false,
  settings: {
    callsMonths: optionalWhole({
      label: 'Months to keep',
      audit: 'months of usage logs',
      variable: {
        name: 'CALLS_RETENTION_MONTHS',
        meaning: 'Months of calls to [keep](operating.md#call-retention), in addition to the current month, 1–1200.',
        unset: 'unlimited',
      },
      min: 1,
      max: 1200,
      unit: 'months',
      empty: ['all', 'keep all calls'],
    }),
  },
});

/** In the order of the pages. */
export const SECTIONS = { site, signUp, organizations, mail, payment, retention };

export type SectionName = keyof typeof SECTIONS;
export const SECTION_NAMES = Object.keys(SECTIONS) as readonly SectionName[];

/** Stored values by section. */
export type Sections = { readonly [Name in SectionName]: StoredValues<(typeof SECTIONS)[Name]['settings']> };
/** Values in effect by section, without secrets. */
export type CurrentSections = { readonly [Name in SectionName]: CurrentValues<(typeof SECTIONS)[Name]['settings']> };

/** Any section, for what treats all of them alike. */
export const sectionOf = (name: SectionName): Section<SettingMap> => SECTIONS[name];
