import {
  allows,
  type OrganizationRole,
  type OrganizationScope,
  type Permission,
  type Visit,
  type Visitor,
} from '../../../auth/index.js';
import type { CurrentSettings } from '../../../platform/settings/index.js';
import type { Nanos } from '../../../platform/shared/index.js';
import { maskedToken } from '../form-posts.js';
import type { Flash } from '../page.js';

/** A condition shown on every page until it is resolved, such as a low balance. */
export interface Notice {
  readonly tone: 'warn' | 'bad';
  readonly title: string;
  readonly text?: string;
  readonly action?: { readonly href: string; readonly label: string };
}

/** What is left of the own budget of a member who may not see the balance. */
export interface BudgetLeft {
  readonly period: 'lifetime' | 'day' | 'week' | 'month';
  readonly left: Nanos;
}

/** Display names. */
export const BUDGET_LABELS: Readonly<Record<BudgetLeft['period'], string>> = {
  lifetime: 'Left of your budget',
  day: 'Left of your daily budget',
  week: 'Left of your weekly budget',
  month: 'Left of your monthly budget',
};

/** Data for the layout of every page. */
export interface PageLayout {
  readonly visit: Visit;
  readonly flash?: Flash | undefined;
  readonly notice?: Notice | undefined;
  /** Undefined if unknown or not signed in. */
  readonly balance?: Nanos | undefined;
  readonly budget?: BudgetLeft | undefined;
  /** Site settings; those left out are not set. */
  readonly site: Pick<CurrentSettings['site'], 'name'> & Partial<CurrentSettings['site']>;
  readonly signUp: 'open' | 'invite' | 'closed';
  /** Public base URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly now: Date;
}

/** The theme button cycles through these. */
const THEMES = {
  system: { name: 'system', icon: 'theme', next: 'light' },
  light: { name: 'light', icon: 'sun', next: 'dark' },
  dark: { name: 'dark', icon: 'moon', next: 'system' },
} as const;

/** Available in templates as `@root.layout`. */
export function layoutValues(layout: PageLayout): Readonly<Record<string, unknown>> {
  const { visit } = layout;
  const path = visit.url.split('?')[0] ?? '/';
  const theme = THEMES[visit.theme ?? 'system'];
  return {
    ...layout,
    product: layout.site.name,
    visitor: visit.visitor,
    csrf: maskedToken(visit.csrf),
    timeZone: visit.visitor?.timeZone ?? 'UTC',
    scope: visit.visitor?.organization?.id,
    scopes: scopesOf(visit.visitor),
    ...areaOf(path, visit.visitor),
    hasBalance: layout.balance !== undefined,
    budget: layout.budget && { left: layout.budget.left, label: BUDGET_LABELS[layout.budget.period] },
    support: supportLink(layout.site.supportContact),
    theme: visit.theme,
    themeName: theme.name,
    themeIcon: theme.icon,
    nextTheme: theme.next,
    nextThemeName: THEMES[theme.next].name,
  };
}

/** The choices of the scope switch; undefined for users without organizations. */
function scopesOf(visitor: Visitor | undefined) {
  if (visitor === undefined || visitor.organizations.length === 0) return undefined;
  const all = [{ id: '', name: 'Personal account', note: visitor.email }, ...visitor.organizations.map(choiceOf)];
  const choices = all.map((choice) => ({ ...choice, current: choice.id === (visitor.organization?.id ?? '') }));
  return { current: visitor.organization?.name ?? 'Personal account', choices };
}

const choiceOf = ({ id, name, role }: OrganizationScope) => ({ id, name, note: ROLE_NAMES[role] });

const ROLE_NAMES: Readonly<Record<OrganizationRole, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  billing: 'Billing',
  member: 'Member',
  viewer: 'Viewer',
};

function supportLink(contact: string | undefined): { href: string; label: string } | undefined {
  if (contact === undefined) return undefined;
  if (/^https?:\/\//i.test(contact)) return { href: contact, label: contact.replace(/^https?:\/\//i, '') };
  return { href: `mailto:${contact.replace(/^mailto:/i, '')}`, label: contact.replace(/^mailto:/i, '') };
}

interface NavigationItem {
  readonly href: string;
  readonly label: string;
  readonly icon: string;
  /** In organizations: one of these is required. Undefined: open to everyone. */
  readonly permissions?: readonly Permission[];
  readonly inOrganizationsOnly?: true;
}

interface Area {
  readonly navigation: readonly (NavigationItem & { readonly current: boolean })[];
  /** Whether the page belongs to the admin console. */
  readonly isAdminArea: boolean;
  /** Link to the other area; set for administrators only. */
  readonly otherArea: NavigationItem | undefined;
}

const OWN: readonly NavigationItem[] = [
  { href: '/', label: 'Home', icon: 'home' },
  { href: '/keys', label: 'API keys', icon: 'key', permissions: ['use keys', 'view all keys'] },
  { href: '/playground', label: 'Playground', icon: 'play', permissions: ['use keys'] },
  { href: '/usage-logs/common', label: 'Usage logs', icon: 'list' },
  { href: '/wallet', label: 'Wallet', icon: 'wallet', permissions: ['view wallet'] },
  {
    href: '/organization',
    label: 'Organization',
    icon: 'people',
    permissions: ['view organization', 'use keys'],
    inOrganizationsOnly: true,
  },
  { href: '/pricing', label: 'Pricing', icon: 'price' },
  { href: '/docs', label: 'Docs', icon: 'book' },
  { href: '/organization', label: 'Organization', icon: 'people' },
  { href: '/account', label: 'Account', icon: 'person' },
];

const ADMIN_START = '/admin';
const ADMIN: readonly NavigationItem[] = [
  { href: ADMIN_START, label: 'Overview', icon: 'overview' },
  { href: '/admin/users', label: 'Users', icon: 'people' },
  { href: '/admin/organizations', label: 'Organizations', icon: 'building' },
  { href: '/admin/channels', label: 'Channels', icon: 'plug' },
  { href: '/admin/models', label: 'Models & prices', icon: 'box' },
  { href: '/admin/groups', label: 'Groups', icon: 'layers' },
  { href: '/admin/codes', label: 'Redemption codes', icon: 'ticket' },
  { href: '/admin/calls', label: 'Calls', icon: 'pulse' },
  { href: '/admin/audit', label: 'Audit log', icon: 'log' },
  { href: '/admin/settings', label: 'Settings', icon: 'sliders' },
];

/** Pages of the navigation that a user may open. */
export const navigationPages = ({ isAdministrator, organization }: Reader): readonly NavigationItem[] => {
  const own = OWN.filter(
    ({ permissions, inOrganizationsOnly }) =>
      (inOrganizationsOnly === undefined || organization !== undefined) &&
      (permissions?.some((permission) => allows(organization, permission)) ?? true),
  );
  return isAdministrator ? [...own, ...ADMIN] : own;
};

type Reader = Pick<Visitor, 'isAdministrator' | 'organization'>;

const TO_ADMIN: NavigationItem = { href: ADMIN_START, label: 'Admin console', icon: 'sliders' };
const TO_OWN: NavigationItem = { href: '/', label: 'Back to console', icon: 'chevron-left' };

function areaOf(path: string, visitor: Visitor | undefined): Area {
  const isAdmin = visitor?.isAdministrator === true;
  const isAdminArea = isAdmin && isWithin(ADMIN_START, path);
  const items = isAdminArea ? ADMIN : navigationPages({ isAdministrator: false, organization: visitor?.organization });
  return {
    navigation: items.map((item) => ({ ...item, current: isCurrent(item.href, path) })),
    isAdminArea,
    otherArea: isAdmin ? (isAdminArea ? TO_OWN : TO_ADMIN) : undefined,
  };
}

/** The start page of an area is a prefix of all its pages, so it must match exactly. */
const isCurrent = (href: string, path: string): boolean =>
  href === '/' || href === ADMIN_START ? path === href : isWithin(href, path);

const isWithin = (start: string, path: string): boolean => path === start || path.startsWith(`${start}/`);
