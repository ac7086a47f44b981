import type { Config } from '../config/index.js';
import { type Nanos, parseUsd, type Secret } from '../shared/index.js';
import { fixedFields } from './fixed-settings.js';
import type { MailPassword } from './mail-password.js';
import { type PaymentSettings, paymentSettings } from './payment-settings.js';
import type { PaymentSecrets } from './payment-secrets.js';
import type { Sections } from './sections/sections.js';

/** What holds now: what is stored, but for what the environment has set. */
export interface CurrentSettings {
  readonly site: {
    readonly name: string;
    /** An address of mail or of a page where people find help. */
    readonly supportContact: string | undefined;
    /** What people agree to, in paragraphs. */
    readonly terms: string | undefined;
    /** Whether /status is open to everybody. */
    readonly statusIsPublic: boolean;
  };
  readonly signUp: {
    /** Who may make an account: anybody, whoever has an invitation, nobody. */
    readonly mode: 'open' | 'invite' | 'closed';
    /** The only domains whose addresses may sign up, in lower case; none: all. */
    readonly domains: readonly string[];
    /** What a new account is given once its address is verified. */
    readonly startingCredit: Nanos;
  };
  readonly signIn: {
    /** Whether nothing but setting one up is open to those that have none. */
    readonly administratorsNeedSecondFactor: boolean;
    /** After how long without a visit a browser is signed out. */
    readonly sessionIdleHours: number;
  };
  readonly mail: {
    /** Undefined: mail goes to the outbox folder. Has the password, if there is one. */
    readonly smtpUrl: Secret | undefined;
    readonly from: string;
    /** Why no mail can be sent, as the log says it. */
    readonly unusable: string | undefined;
  };
  readonly payment: PaymentSettings;
  readonly retention: {
    /** Whole months of calls that are kept beside the current one; undefined: all. */
    readonly callsMonths: number | undefined;
  };
}

/** What opens the secrets that are stored. */
interface Decryptors {
  readonly password: MailPassword;
  readonly payment: PaymentSecrets;
}

export const currentSettings = (
  sections: Sections,
  config: Config,
  { password, payment }: Decryptors,
): CurrentSettings => ({
  site: siteSettings(sections, config),
  signUp: signUpSettings(sections, config),
  signIn: signInSettings(sections, config),
  mail: mailSettings(sections, config, password),
  payment: paymentSettings(sections.payment, config, payment),
  retention: { callsMonths: config.callsRetentionMonths ?? sections.retention.callsMonths ?? undefined },
});

function siteSettings({ site }: Sections, config: Config): CurrentSettings['site'] {
  const { name, supportContact, terms, statusIsPublic } = site;
  return {
    name,
    supportContact: config.supportContact ?? (supportContact || undefined),
    terms: terms || undefined,
    statusIsPublic,
  };
}

function signUpSettings({ signUp }: Sections, config: Config): CurrentSettings['signUp'] {
  const fixed = fixedFields(config, 'signUp');
  return {
    mode: 'mode' in fixed ? config.signUp : signUp.mode,
    domains: 'domains' in fixed ? config.signUpDomains : signUp.domains,
    startingCredit: 'startingCredit' in fixed ? config.startingCredit : parseUsd(signUp.startingCredit),
  };
}

function signInSettings({ signUp }: Sections, config: Config): CurrentSettings['signIn'] {
  return {
    administratorsNeedSecondFactor: signUp.administratorsNeedSecondFactor,
    sessionIdleHours: config.sessionIdleHours ?? signUp.sessionIdleHours,
  };
}

function mailSettings({ site, mail }: Sections, config: Config, password: MailPassword): CurrentSettings['mail'] {
  const from = 'from' in fixedFields(config, 'mail') ? config.mailFrom : mail.from || senderNamed(site.name);
  if (config.smtpUrl !== undefined) return { smtpUrl: config.smtpUrl, from, unusable: undefined };
  if (mail.server === '') return { smtpUrl: undefined, from, unusable: undefined };
  try {
    return { smtpUrl: password.addressOf(mail), from, unusable: undefined };
  } catch {
    return { smtpUrl: undefined, from, unusable: UNREADABLE };
  }
}

const UNREADABLE =
  'cannot decrypt the mail server password: SECRET_KEY has changed. Enter the password again in the settings';

/** Nobody can answer it, but people see who wrote. */
const senderNamed = (name: string): string => `"${name.replaceAll(/["\\]/g, '\\$&')}" <switchboard@localhost>`;
