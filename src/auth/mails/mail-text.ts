import { INVITATION_DAYS, LIFETIME_MINUTES } from '../verification/verification.js';

/** Text of an email, apart from its link and code. */
export interface MailText {
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Key figures, shown prominently. */
  readonly figures?: readonly { readonly label: string; readonly value: string }[];
  /** Label of the button; absent: no button. */
  readonly action?: string;
  /** Lifetime of link and code. */
  readonly lifetime?: string;
  /** Footer for recipients who did not expect the email. */
  readonly foot: string;
  /** Below the footer: a link to manage such emails, relative to our address. */
  readonly manage?: { readonly label: string; readonly path: string };
}

/** Text of an email, given the product name. */
export type MailTextBuilder = (product: string) => MailText;

const BOTH = `The link and the code work once, for ${LIFETIME_MINUTES} minutes.`;
const LINK = `The link works once, for ${LIFETIME_MINUTES} minutes.`;

export const REGISTER: MailTextBuilder = (product) => ({
  subject: `Confirm your email address for ${product}`,
  heading: 'Confirm your email address',
  paragraphs: [`Someone created a ${product} account with this email address. If this was you, confirm it here.`],
  action: 'Confirm address',
  lifetime: BOTH,
  foot: 'Not you? Ignore this email. No account is created without the code or link.',
});

/** Sent instead of a code; the page looks the same. */
export const ALREADY_REGISTERED: MailTextBuilder = (product) => ({
  subject: `You already have a ${product} account`,
  heading: 'You already have an account',
  paragraphs: [
    `Someone tried to create a ${product} account with this email address. Your existing account has not changed.`,
    'If this was you, sign in. If you forgot your password, reset it on the sign-in page.',
  ],
  action: 'Sign in',
  foot: 'Not you? Ignore this email; nothing has changed.',
});

export const CONFIRM: MailTextBuilder = (product) => ({
  ...REGISTER(product),
  paragraphs: [`This email address belongs to a ${product} account. If it is yours, confirm it here.`],
  foot: 'Not you? Ignore this email. The address is not confirmed without the code.',
});

export const CHANGE: MailTextBuilder = (product) => ({
  subject: `Confirm your new email address for ${product}`,
  heading: 'Confirm your new email address',
  paragraphs: [
    `Someone changed the email address of a ${product} account to this one. If this was you, confirm it here.`,
  ],
  action: 'Confirm address',
  lifetime: BOTH,
  foot: 'Not you? Ignore this email. Nothing changes without the code.',
});

/** Sent to an address that another account has. */
export const CHANGE_TO_TAKEN: MailTextBuilder = (product) => ({
  subject: `Email address already in use for ${product}`,
  heading: 'This email address already has an account',
  paragraphs: [
    `Someone tried to use this email address for another ${product} account. Your account has not changed.`,
    'If this was you, change the email address of this account first.',
  ],
  foot: 'Not you? Ignore this email; nothing has changed.',
});

export const CHANGED =
  (address: string): MailTextBuilder =>
  (product) => ({
    subject: `Your ${product} email address was changed`,
    heading: 'Your email address was changed',
    paragraphs: [`You now sign in with ${address}. This is the last email to your previous address.`],
    foot: 'Not you? Contact an administrator immediately.',
  });

export const RESET: MailTextBuilder = (product) => ({
  subject: `Reset your ${product} password`,
  heading: 'Choose a new password',
  paragraphs: [
    `Someone requested a password reset for the ${product} account of this email address. If this was you, choose a new password here.`,
  ],
  action: 'Choose a password',
  lifetime: LINK,
  foot: 'Not you? Ignore this email; your password has not changed.',
});

export const PASSWORD_CHANGED: MailTextBuilder = (product) => ({
  subject: `Your ${product} password was changed`,
  heading: 'Your password was changed',
  paragraphs: ['All other sessions were signed out. If this was you, no action is needed.'],
  action: 'Change password',
  foot: 'Not you? Change your password immediately and contact an administrator.',
});

export const ACCOUNT_CLOSED: MailTextBuilder = (product) => ({
  subject: `Your ${product} account was closed`,
  heading: 'Your account was closed',
  paragraphs: [
    'All sessions ended, and your API keys no longer work. Your name, email address and password were erased.',
    'This is the last email to this address.',
  ],
  foot: 'Not you? Contact an administrator immediately.',
});

export const INVITATION: MailTextBuilder = (product) => ({
  subject: `Your ${product} account`,
  heading: 'An account was created for you',
  paragraphs: [
    `${product} gives you many language models with one base URL and one key. Choose a password to activate your account.`,
  ],
  action: 'Choose a password',
  lifetime: `The link works once, for ${INVITATION_DAYS} days.`,
  foot: 'Not expected? Ignore this email. The account cannot be used until a password is set.',
});

/** An invitation to an organization. */
export interface JoinInvitation {
  readonly organization: string;
  /** Name or email address. */
  readonly inviter: string;
}

export const JOIN =
  ({ organization, inviter }: JoinInvitation): MailTextBuilder =>
  (product) => ({
    subject: `Join ${organization} on ${product}`,
    heading: `You are invited to ${organization}`,
    paragraphs: [
      `${inviter} invited you to work in ${organization} on ${product}. Your calls there are paid from its wallet.`,
      'Sign in with this email address, or create an account for it first.',
    ],
    action: 'View invitation',
    lifetime: `The link works once, for ${INVITATION_DAYS} days.`,
    foot: 'Not expected? Ignore this email; nothing happens until you accept.',
  });

const NOT_YOU = 'Not you? Change your password immediately and contact an administrator.';

const NOT_YOUR_LINK = 'Not you? Unlink it under Account, change your password, and contact an administrator.';

/** @param provider its name */
export const SIGN_IN_LINKED =
  (provider: string): MailTextBuilder =>
  (product) => ({
    subject: `${provider} was linked to your ${product} account`,
    heading: 'A sign-in was linked to your account',
    paragraphs: [`You can now sign in to ${product} with ${provider}. If this was you, no action is needed.`],
    action: 'Open account',
    foot: NOT_YOUR_LINK,
  });

/** @param provider its name */
export const SIGN_IN_UNLINKED =
  (provider: string): MailTextBuilder =>
  (product) => ({
    subject: `${provider} was unlinked from your ${product} account`,
    heading: 'A sign-in was unlinked from your account',
    paragraphs: [`You can no longer sign in to ${product} with ${provider}. If this was you, no action is needed.`],
    action: 'Open account',
    foot: NOT_YOU,
  });

export const SECOND_FACTOR_ON: MailTextBuilder = (product) => ({
  subject: `Two-factor authentication was turned on for ${product}`,
  heading: 'Two-factor authentication is on',
  paragraphs: [
    'You now sign in with your password and a code from your app. Keep the recovery codes in case you cannot use the app.',
    'All other sessions were signed out.',
  ],
  action: 'Change password',
  foot: NOT_YOU,
});

export const SECOND_FACTOR_OFF: MailTextBuilder = (product) => ({
  subject: `Two-factor authentication was turned off for ${product}`,
  heading: 'Two-factor authentication is off',
  paragraphs: [
    'You now sign in with your password only. Your recovery codes no longer work, and all other sessions were signed out.',
  ],
  action: 'Change password',
  foot: NOT_YOU,
});

/** The app was turned off; passkeys stay. */
export const APP_TURNED_OFF: MailTextBuilder = (product) => ({
  subject: `Your authenticator app was removed from ${product}`,
  heading: 'Your authenticator app was removed',
  paragraphs: ['You now sign in with a passkey. Your recovery codes still work. All other sessions were signed out.'],
  action: 'Change password',
  foot: NOT_YOU,
});

/** @param name of the passkey */
export const PASSKEY_ADDED =
  (name: string): MailTextBuilder =>
  (product) => ({
    subject: `A passkey was added to your ${product} account`,
    heading: 'A passkey was added',
    paragraphs: [
      `You can now sign in with the passkey “${name}”. With a password, you are asked for a second factor as well.`,
    ],
    action: 'Change password',
    foot: 'Not you? Remove it under Account, change your password, and contact an administrator.',
    manage: { label: 'Manage passkeys', path: '/account#passkeys' },
  });

/** @param name of the passkey */
export const PASSKEY_REMOVED =
  (name: string): MailTextBuilder =>
  (product) => ({
    subject: `A passkey was removed from your ${product} account`,
    heading: 'A passkey was removed',
    paragraphs: [`The passkey “${name}” no longer signs you in. All other sessions were signed out.`],
    action: 'Change password',
    foot: NOT_YOU,
    manage: { label: 'Manage passkeys', path: '/account#passkeys' },
  });

/** Removed by an administrator. */
export const SECOND_FACTOR_REMOVED: MailTextBuilder = (product) => ({
  subject: `Two-factor authentication was turned off for ${product}`,
  heading: 'Two-factor authentication was turned off',
  paragraphs: [
    `An administrator of ${product} turned off two-factor authentication for your account. You now sign in with your password only. Your passkeys and recovery codes no longer work, and all sessions were signed out.`,
    'You can turn it on again.',
  ],
  action: 'Change password',
  foot: 'Not requested by you? Change your password immediately and contact an administrator.',
  manage: { label: 'Turn it on again', path: '/account/second-factor' },
});

export const RECOVERY_CODES_REPLACED: MailTextBuilder = (product) => ({
  subject: `Your ${product} account has new recovery codes`,
  heading: 'Your recovery codes were replaced',
  paragraphs: ['Your previous codes no longer work, and all other sessions were signed out.'],
  action: 'Change password',
  foot: NOT_YOU,
});

/** @param left remaining codes */
export const RECOVERY_CODE_USED =
  (left: number): MailTextBuilder =>
  (product) => ({
    subject: `A recovery code of your ${product} account was used`,
    heading: 'A recovery code was used',
    paragraphs: [
      `It replaced a code from your app and cannot be used again. ${codesLeft(left)}`,
      'If this was you, create new codes before you run out.',
    ],
    action: 'Change password',
    foot: NOT_YOU,
    manage: { label: 'Create new recovery codes', path: '/account/second-factor/recovery-codes' },
  });

/** `You have 7 recovery codes left.` */
export function codesLeft(left: number): string {
  if (left === 0) return 'You have no recovery codes left.';
  return left === 1 ? 'You have 1 recovery code left.' : `You have ${left} recovery codes left.`;
}
