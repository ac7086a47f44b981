import { generateSync } from 'otplib';
import type { PageVisitor, PageResponse } from './page-visitor.js';

/** How long an app shows a code, in ms. */
const STEP_MS = 30_000;

/** Somebody's app: shows codes of the secret that a page showed it. */
export class Authenticator {
  /** Steps from now of the next code: each is accepted once, and none before one that was. */
  private ahead = 0;

  constructor(readonly secret: string) {}

  /** The page has the secret in groups of four. */
  static reading({ text }: PageResponse): Authenticator {
    const secret = /id="secret">([A-Z2-7 ]+)</.exec(text)?.[1];
    if (secret === undefined) throw new Error('The page shows no secret.');
    return new Authenticator(secret.replaceAll(' ', ''));
  }

  /** Of the step that runs, then of the next one: two, for specs that do not wait for others. */
  next(): string {
    if (this.ahead > 1) throw new Error('No other code can be accepted before half a minute has passed.');
    return this.at(this.ahead++);
  }

  /** @param steps from now */
  at(steps: number): string {
    return generateSync({ secret: this.secret, epoch: Math.floor((Date.now() + steps * STEP_MS) / 1000) });
  }
}

/** What somebody has who has turned their second factor on. */
export interface SetUp {
  readonly app: Authenticator;
  readonly recoveryCodes: readonly string[];
}

/** Turns it on in a browser that is signed in, recently. One code of the app is used up by it. */
export async function turnOnSecondFactor(browser: PageVisitor): Promise<SetUp> {
  await browser.get('/account/second-factor');
  const shown = await browser.post('/account/second-factor');
  const app = Authenticator.reading(shown);
  const on = await browser.post('/account/second-factor/on', { sealed: sealedIn(shown), code: app.next() });
  return { app, recoveryCodes: recoveryCodesIn(on) };
}

/** What the page that shows a secret has for the form on it. */
export const sealedIn = ({ text }: PageResponse): string => /name="sealed" value="([^"]+)"/.exec(text)?.[1] ?? '';

/** Each once; none where none are shown. */
export const recoveryCodesIn = ({ text }: PageResponse): readonly string[] => [
  ...new Set(text.match(/\b[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){5}\b/g)),
];
