import type { Config } from '../config/index.js';
import type { SectionName } from './sections/sections.js';

/** By section and field, the variable of the environment that wins over what is stored. */
const VARIABLES: Readonly<Record<SectionName, Readonly<Record<string, string>>>> = {
  site: { supportContact: 'SUPPORT_CONTACT' },
  signUp: {
    mode: 'SIGN_UP',
    domains: 'SIGN_UP_DOMAINS',
    startingCredit: 'STARTING_CREDIT',
    sessionIdleHours: 'SESSION_IDLE_HOURS',
  },
  mail: { server: 'SMTP_URL', serverPassword: 'SMTP_URL', sealedPassword: 'SMTP_URL', from: 'MAIL_FROM' },
  payment: {
    secretKey: 'STRIPE_SECRET_KEY',
    sealedSecretKey: 'STRIPE_SECRET_KEY',
    webhookSecret: 'STRIPE_WEBHOOK_SECRET',
    sealedWebhookSecret: 'STRIPE_WEBHOOK_SECRET',
  },
  retention: { callsMonths: 'CALLS_RETENTION_MONTHS' },
};

/** The fields of a section that the environment of this process has set, with the variable of each. */
export const fixedFields = (config: Config, section: SectionName): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(VARIABLES[section]).filter(([, name]) => config.variable(name) !== undefined));
