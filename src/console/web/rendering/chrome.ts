import type { Nanos } from '../../../platform/shared/index.js';
import type { Flash } from '../page.js';
import type { Visit } from '../../../auth/index.js';
import { areaOf } from './navigation.js';

/** A condition shown on every page until it is resolved, such as a low balance. */
export interface Notice {
  readonly tone: 'warn' | 'bad';
  readonly title: string;
  readonly text?: string;
  /** Where to resolve it. */
  readonly action?: { readonly href: string; readonly label: string };
}

/** Data for the frame around every page. */
export interface Chrome {
  readonly visit: Visit;
  readonly flash?: Flash | undefined;
  readonly notice?: Notice | undefined;
  /** Undefined if unknown or not signed in. */
  readonly balance?: Nanos | undefined;
  /** The service's name. */
  readonly product: string;
  /** An email address or a URL. */
  readonly supportContact?: string | undefined;
  /** Whether /terms exists. */
  readonly hasTerms: boolean;
  /** Whether /status is public. */
  readonly statusIsPublic: boolean;
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

/** Available in templates as `@root.chrome`. */
export function shownChrome(chrome: Chrome): Readonly<Record<string, unknown>> {
  const { visit } = chrome;
  const path = visit.url.split('?')[0] ?? '/';
  const theme = THEMES[visit.theme ?? 'system'];
  return {
    ...chrome,
    visitor: visit.visitor,
    csrf: visit.csrf,
    timeZone: visit.visitor?.timeZone ?? 'UTC',
    ...areaOf(path, visit.visitor?.operator === true),
    hasBalance: chrome.balance !== undefined,
    support: supportLink(chrome.supportContact),
    theme: visit.theme,
    themeName: theme.name,
    themeIcon: theme.icon,
    nextTheme: theme.next,
    nextThemeName: THEMES[theme.next].name,
  };
}

function supportLink(contact: string | undefined): { href: string; label: string } | undefined {
  if (contact === undefined) return undefined;
  if (/^https?:\/\//i.test(contact)) return { href: contact, label: contact.replace(/^https?:\/\//i, '') };
  return { href: `mailto:${contact.replace(/^mailto:/i, '')}`, label: contact.replace(/^mailto:/i, '') };
}
