/** A relay with a mailbox beside it, for specs of what people do with their accounts in a browser. */

import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { Mailbox } from './mailbox.js';
import { PageVisitor } from './page-visitor.js';
import { RelayApp } from './relay-app.js';

export const PASSWORD = 'violet kettle umbrella';
export const OTHER_PASSWORD = 'copper lantern meadow';
export const PUBLIC_URL = 'http://relay.test';

let made = 0;
/** Another one each time. */
export const aNumber = (): number => ++made;
/** Every test has addresses and a network of its own, or they would be counted together. */
export const anAddress = (): string => `user${aNumber()}@example.com`;

/** Of a link in a mail. */
export const path = (link: string): string => link.replace(PUBLIC_URL, '');
export const tokenIn = (link: string): string => new URL(link, PUBLIC_URL).searchParams.get('t') ?? '';

export interface AccountPages {
  readonly relay: RelayApp;
  readonly mailbox: Mailbox;
  /** A browser that nobody is signed in with. */
  readonly visitor: () => PageVisitor;
  /** Makes an account that somebody signs in to with PASSWORD; gives its address. */
  readonly account: (verified?: boolean, email?: string) => Promise<string>;
  readonly signedIn: (email: string) => Promise<PageVisitor>;
  readonly isSignedIn: (browser: PageVisitor) => Promise<boolean>;
}

/** Starts them for a spec file and stops them at the end. */
export function useAccountPages(): AccountPages {
  let relay: RelayApp;
  let mailbox: Mailbox;

  beforeAll(async () => {
    mailbox = await Mailbox.open();
    relay = await RelayApp.start(
      {},
      { SMTP_URL: mailbox.url, PUBLIC_URL, STARTING_CREDIT: '5', TRUSTED_PROXIES: '127.0.0.1' },
    );
  });
  afterAll(async () => {
    await relay.close();
    await mailbox.close();
  });

  const visitor = (): PageVisitor => {
    const number = aNumber();
    return new PageVisitor(relay.url, { 'x-forwarded-for': `10.${(number >> 8) & 255}.${number & 255}.1` });
  };
  const account = async (verified = true, email = anAddress()): Promise<string> => {
    await relay.get(Onboarding).createAccount({ email, name: 'Ann', password: new Secret(PASSWORD), verified });
    return email;
  };
  const signedIn = async (email: string): Promise<PageVisitor> => {
    const browser = visitor();
    expect((await browser.signIn(email, PASSWORD)).location).toBe('/');
    return browser;
  };
  const isSignedIn = async (browser: PageVisitor): Promise<boolean> => (await browser.get('/account')).status === 200;

  return {
    get relay() {
      return relay;
    },
    get mailbox() {
      return mailbox;
    },
    visitor,
    account,
    signedIn,
    isSignedIn,
  };
}
