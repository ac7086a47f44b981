import { type Flash, type Form, Page, Redirect } from '../../web/index.js';
import { type SecretView, type Visitor } from '../../../auth/index.js';

const TITLE = 'Second factor';
/** Where its state stands. */
export const ACCOUNT_CARD = '/account#signing-in';

const crumbsTo = (label: string) => [{ href: '/account', label: 'Account' }, { label }];

/** Told where it was turned off in another window. */
export const OFF_ALREADY = { tone: 'warn', title: 'Two-factor authentication is already off' } as const;

/** Whoever must set it up before anything else has nowhere else to go: the page stands by itself. */
const frameOf = ({ secondFactorMissing }: Visitor) =>
  secondFactorMissing ? ({ layout: 'auth' } as const) : ({ width: 'narrow' } as const);

/** What it is, and the password where the sign-in is not recent. */
export const startPage = (visitor: Visitor, form: Form<object>, passwordNeeded: boolean): Page =>
  new Page('account/second-factor', {
    title: TITLE,
    ...frameOf(visitor),
    data: { form, passwordNeeded, required: visitor.secondFactorMissing, crumbs: crumbsTo(TITLE) },
  });

/** The QR code, and the first code. */
export const setUpPage = (visitor: Visitor, form: Form<object>, shown: SecretView): Page =>
  new Page('account/second-factor-set-up', {
    title: 'Set up your app',
    ...frameOf(visitor),
    data: { form, ...shown, required: visitor.secondFactorMissing, crumbs: crumbsTo(TITLE) },
  });

/** The one page that recovery codes stand on. */
export const recoveryCodesPage = (visitor: Visitor, codes: readonly string[], title: string): Page =>
  new Page('account/recovery-codes', {
    title,
    ...frameOf(visitor),
    data: { title, text: codes.join('\n'), required: visitor.secondFactorMissing, crumbs: crumbsTo('Recovery codes') },
  });

/** A form that takes the password and a code. */
export const bothFactorsPage = (view: string, title: string, visitor: Visitor, form: Form<object>): Page =>
  new Page(`account/${view}`, {
    title,
    width: 'narrow',
    data: { form, email: visitor.email, required: visitor.secondFactorNeeded, crumbs: crumbsTo(title) },
  });

export const toAccount = (flash?: Flash): Redirect => new Redirect(ACCOUNT_CARD, flash);
