interface NavigationItem {
  readonly href: string;
  readonly label: string;
  readonly icon: string;
}

/** What the navigation of a page shows. */
interface Area {
  readonly navigation: readonly (NavigationItem & { readonly current: boolean })[];
  /** One of the operators' pages. */
  readonly isOperators: boolean;
  /** Where the other area begins, for whoever may see both. */
  readonly otherArea: NavigationItem | undefined;
}

const OWN: readonly NavigationItem[] = [
  { href: '/', label: 'Home', icon: 'home' },
  { href: '/keys', label: 'Keys', icon: 'key' },
  { href: '/usage-logs/common', label: 'Usage', icon: 'list' },
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

const TO_OPERATORS: NavigationItem = { href: START_OF_OPERATORS, label: 'Operator', icon: 'sliders' };
const TO_OWN: NavigationItem = { href: '/', label: 'Back to console', icon: 'chevron-left' };

/** @param path of the page, without its query */
export function areaOf(path: string, isOperator: boolean): Area {
  const isOperators = isOperator && isWithin(START_OF_OPERATORS, path);
  const items = isOperators ? OPERATORS : OWN;
  return {
    navigation: items.map((item) => ({ ...item, current: isCurrent(item.href, path) })),
    isOperators,
    otherArea: isOperator ? (isOperators ? TO_OWN : TO_OPERATORS) : undefined,
  };
}

/** The first page of an area stands above all others, so it is current only for itself. */
const isCurrent = (href: string, path: string): boolean =>
  href === '/' || href === START_OF_OPERATORS ? path === href : isWithin(href, path);

const isWithin = (start: string, path: string): boolean => path === start || path.startsWith(`${start}/`);
