interface NavigationItem {
  readonly href: string;
  readonly label: string;
  readonly icon: string;
}

interface Area {
  readonly navigation: readonly (NavigationItem & { readonly current: boolean })[];
  /** Whether the page belongs to the admin console. */
  readonly isOperators: boolean;
  /** Link to the other area; set for administrators only. */
  readonly otherArea: NavigationItem | undefined;
}

const OWN: readonly NavigationItem[] = [
  { href: '/', label: 'Home', icon: 'home' },
  { href: '/keys', label: 'API keys', icon: 'key' },
  { href: '/usage-logs/common', label: 'Usage logs', icon: 'list' },
  { href: '/wallet', label: 'Wallet', icon: 'wallet' },
  { href: '/pricing', label: 'Pricing', icon: 'price' },
  { href: '/docs', label: 'Docs', icon: 'book' },
  { href: '/account', label: 'Account', icon: 'person' },
];

const START_OF_OPERATORS = '/admin';
const OPERATORS: readonly NavigationItem[] = [
  { href: START_OF_OPERATORS, label: 'Overview', icon: 'overview' },
  { href: '/admin/users', label: 'Users', icon: 'people' },
  { href: '/admin/channels', label: 'Channels', icon: 'plug' },
  { href: '/admin/models', label: 'Models & prices', icon: 'box' },
  { href: '/admin/groups', label: 'Groups', icon: 'layers' },
  { href: '/admin/codes', label: 'Redemption codes', icon: 'ticket' },
  { href: '/admin/calls', label: 'Calls', icon: 'pulse' },
  { href: '/admin/audit', label: 'Audit log', icon: 'log' },
  { href: '/admin/settings', label: 'Settings', icon: 'sliders' },
];

const TO_OPERATORS: NavigationItem = { href: START_OF_OPERATORS, label: 'Admin console', icon: 'sliders' };
const TO_OWN: NavigationItem = { href: '/', label: 'Back to console', icon: 'chevron-left' };

/** @param path page path, without the query */
export function areaOf(path: string, isOperator: boolean): Area {
  const isOperators = isOperator && isWithin(START_OF_OPERATORS, path);
  const items = isOperators ? OPERATORS : OWN;
  return {
    navigation: items.map((item) => ({ ...item, current: isCurrent(item.href, path) })),
    isOperators,
    otherArea: isOperator ? (isOperators ? TO_OWN : TO_OPERATORS) : undefined,
  };
}

/** The start page of an area is a prefix of all its pages, so it must match exactly. */
const isCurrent = (href: string, path: string): boolean =>
  href === '/' || href === START_OF_OPERATORS ? path === href : isWithin(href, path);

const isWithin = (start: string, path: string): boolean => path === start || path.startsWith(`${start}/`);
