import { idleTime } from '../../../auth/index.js';
import type { CurrentSettings, SectionName, Sections } from '../../../platform/settings/index.js';
import { formatUsd } from '../../../platform/shared/index.js';
import type { FormBody } from '../../web/index.js';

const VALUES: { readonly [Name in SectionName]: (section: Sections[Name]) => FormBody } = {
  site: ({ name, supportContact, terms, statusIsPublic }) => ({
    name,
    supportContact,
    terms,
    statusIsPublic: statusIsPublic ? 'yes' : '',
  }),
  signUp: ({ mode, domains, startingCredit, administratorsNeedSecondFactor, sessionIdleHours }) => ({
    mode,
    domains: domains.join('\n'),
    startingCredit,
    administratorsNeedSecondFactor: administratorsNeedSecondFactor ? 'yes' : '',
    sessionIdleHours: String(sessionIdleHours),
  }),
  mail: ({ server, from }) => ({ server, from }),
  payment: ({ enabled, amounts, smallest, largest }) => ({
    enabled: enabled ? 'yes' : '',
    amounts: amounts.join(', '),
    smallest,
    largest,
  }),
  retention: ({ callsMonths }) => ({ callsMonths: callsMonths === null ? '' : String(callsMonths) }),
};

/** Form values of a section. */
export const valuesOf = <Name extends SectionName>(name: Name, section: Sections[Name]): FormBody =>
  VALUES[name](section);

export const MODES: readonly { readonly value: string; readonly label: string }[] = [
  { value: 'open', label: 'Open' },
  { value: 'invite', label: 'Invitation only' },
  { value: 'closed', label: 'Closed (administrators create accounts)' },
];

/** A field set by an environment variable. */
export interface FixedField {
  readonly value: string;
  readonly variable: string;
}

/** Fields set by environment variables, by name. */
export function fixedFields(
  variables: Readonly<Record<string, string>>,
  settings: CurrentSettings,
): Readonly<Record<string, FixedField>> {
  const shown = shownSettings(settings);
  return Object.fromEntries(
    Object.entries(variables).map(([field, variable]) => [field, { value: shown[field] ?? '', variable }]),
  );
}

const shownSettings = ({
  site,
  signUp,
  signIn,
  mail,
  payment,
  retention,
}: CurrentSettings): Readonly<Record<string, string>> => ({
  supportContact: site.supportContact ?? '',
  mode: MODES.find(({ value }) => value === signUp.mode)?.label ?? signUp.mode,
  domains: signUp.domains.join(', '),
  startingCredit: formatUsd(signUp.startingCredit),
  sessionIdleHours: idleTime(signIn.sessionIdleHours),
  server: mail.smtpUrl === undefined ? '' : withoutPassword(mail.smtpUrl.reveal()).server,
  from: mail.from,
  secretKey: payment.secretKey === undefined ? '' : 'Hidden',
  webhookSecret: payment.webhookSecret === undefined ? '' : 'Hidden',
  callsMonths: String(retention.callsMonths ?? ''),
});

/** Splits the password off an SMTP URL. */
export function withoutPassword(address: string): { readonly server: string; readonly password: string } {
  if (!URL.canParse(address)) return { server: address, password: '' };
  const url = new URL(address);
  if (url.password === '') return { server: address, password: '' };
  const password = decoded(url.password);
  url.password = '';
  return { server: url.href, password };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A literal percent sign.
    return text;
  }
}
