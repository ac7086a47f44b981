import type { SectionName, Sections } from './sections/sections.js';

/** By field as people call it, what it says; what is in `UNSHOWN` is compared and not told. */
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
    'two-factor authentication for administrators': administratorsNeedSecondFactor ? 'needed' : 'as they like',
    'idle session timeout (hours)': String(sessionIdleHours),
  }),
  mail: ({ server, sealedPassword, from }) => ({ server, password: sealedPassword, sender: from }),
  payment: ({ enabled, sealedSecretKey, sealedWebhookSecret, amounts, smallest, largest }) => ({
    payments: enabled ? 'on' : 'off',
    'secret key': sealedSecretKey,
    'signing secret': sealedWebhookSecret,
    amounts: amounts.map((amount) => `$${amount}`).join(', '),
    'smallest amount': `$${smallest}`,
    'largest amount': `$${largest}`,
  }),
  retention: ({ callsMonths }) => ({ 'months of usage logs': callsMonths === null ? 'all' : String(callsMonths) }),
};

/** Too long, or a secret. */
const UNSHOWN = new Set(['terms', 'password', 'secret key', 'signing secret']);

/** A line for each field that differs, `starting credit $0 → $5`; none when all are the same. */
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
