import { LIFETIME_MINUTES, RESEND_AFTER_MS, type Verification } from '../../auth/index.js';
import { Form, Page } from '../web/index.js';

/** What the page that asks for a code shows of the mail that it was in. */
export interface SentMail {
  readonly email: string;
  readonly minutes: number;
  /** Undefined: nothing was sent yet. */
  readonly sentAt: Date | undefined;
  /** When another mail can be asked for; undefined: now. */
  readonly resendAt: Date | undefined;
}

export function sentMail(email: string, sent: Verification | undefined, now: Date): SentMail {
  const resendAt = sent && new Date(sent.sentAt.getTime() + RESEND_AFTER_MS);
  return {
    email,
    minutes: LIFETIME_MINUTES,
    sentAt: sent?.sentAt,
    resendAt: resendAt && resendAt > now ? resendAt : undefined,
  };
}

/** A page in the frame of single forms. */
export const formPage = (
  view: string,
  title: string,
  data: { readonly form?: Form<object> } & Readonly<Record<string, unknown>> = {},
): Page => new Page(`onboarding/${view}`, { title, layout: 'auth', data });
