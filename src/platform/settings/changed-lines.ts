import type { SectionName, Sections } from './sections/sections.js';

/** Displayed values by field label. Fields in `UNSHOWN` are compared but not displayed. */
type Facts = Readonly<Record<string, string>>;

const FACTS: { readonly [Name in SectionName]: (section: Sections[Name]) => Facts } = {
  site: ({ name, supportContact, terms, statusIsPublic }) => ({
    name,
    'support contact': supportContact,
    terms,
    'status page': statusIsPublic ? 'everyone' : 'signed-in users',
  }),
  signUp: ({ mode, domains, startingCredit, administratorsNeedSecondFactor, sessionIdleHours }) => ({
    registration: mode,
    domains: domains.join(', '),
    'starting credit': `$${startingCredit}`,
    'two-factor authentication for administrators': administratorsNeedSecondFactor ? 'required' : 'optional',
    'idle session timeout (hours)': String(sessionIdleHours),
  }),
  mail: ({ server, sealedPassword, from }) => ({ server, password: sealedPassword, sender: from }),
  payment: ({ enabled, sealedSecretKey, sealedWebhookSecret, amounts, smallest, largest }) => ({
    payments: enabled ? 'on' : 'off',
    'secret key': sealedSecretKey,
    'signing secret': sealedWebhookSecret,
    amounts: amounts.map((amount) => `$${amount}`).join(', '),
    'minimum amount': `$${smallest}`,
    'maximum amount': `$${largest}`,
  }),
  retention: ({ callsMonths }) => ({ 'months of usage logs': callsMonths === null ? 'all' : String(callsMonths) }),
};

/** Long texts and secrets. */
const UNSHOWN = new Set(['terms', 'password', 'secret key', 'signing secret']);

/** One line per changed field: `starting credit $0 → $5`. */
export function changedLines<Name extends SectionName>(
  name: Name,
  before: Sections[Name],
  after: Sections[Name],
): readonly string[] {
  const then = FACTS[name](before);
  return Object.entries(FACTS[name](after)).flatMap(([field, now]) => {
    const old = then[field] ?? '';
    if (old === now) return [];
    if (UNSHOWN.has(field)) return [`${field} ${now === '' ? 'removed' : 'changed'}`];
    return [`${field} ${shown(old)} → ${shown(now)}`];
  });
}

const shown = (text: string): string => text || '(none)';
