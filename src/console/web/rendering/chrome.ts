import type { Nanos } from '../../../platform/shared/index.js';
import type { Flash } from '../page.js';
import type { Visit } from '../../../auth/index.js';
import { areaOf } from './navigation.js';

/** A condition that lasts until it is solved, told on every page: low balance, say. */
export interface Notice {
  readonly tone: 'warn' | 'bad';
  readonly title: string;
  readonly text?: string;
  /** Where it is solved. */
  readonly action?: { readonly href: string; readonly label: string };
}

/** What stands around every page, whatever it shows. */
export interface Chrome {
  readonly visit: Visit;
  readonly flash?: Flash | undefined;
  readonly notice?: Notice | undefined;
  /** Undefined: nobody is signed in, or nothing knows it. */
  readonly balance?: Nanos | undefined;
  /** What the service is called. */
  readonly product: string;
  /** An address of mail or of a page. */
  readonly supportContact?: string | undefined;
  /** Whether there is anything at /terms. */
  readonly hasTerms: boolean;
  /** Whether /status is open to everybody. */
  readonly statusIsPublic: boolean;
  readonly signUp: 'open' | 'invite' | 'closed';
  /** Where people reach the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly now: Date;
}

/** A press on the button goes from each to the next. */
const THEMES = {
  system: { name: 'follow system', icon: 'theme', next: 'light' },
  light: { name: 'light', icon: 'sun', next: 'dark' },
  dark: { name: 'dark', icon: 'moon', next: 'system' },
} as const;

/** What templates read as `@root.chrome`. */
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

/** An address of mail, a page, or words that say whom to ask. */
function supportLink(contact: string | undefined): { href: string; label: string } | undefined {
  if (contact === undefined) return undefined;
  if (/^https?:\/\//i.test(contact)) return { href: contact, label: contact.replace(/^https?:\/\//i, '') };
  return { href: `mailto:${contact.replace(/^mailto:/i, '')}`, label: contact.replace(/^mailto:/i, '') };
}
