import { INVITATION_DAYS, LIFETIME_MINUTES } from '../verification/verification.js';

/** What a mail says, beside its link and its code. */
export interface MailWords {
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** What is to be seen at a glance. */
  readonly figures?: readonly { readonly label: string; readonly value: string }[];
  /** What the button does; absent: there is none. */
  readonly action?: string;
  /** How long link and code work. */
  readonly lifetime?: string;
  /** Below the mail: for whoever did not expect it. */
  readonly foot: string;
  /** Below that: where one sees to what it is about, or to such mails themselves, as a path below our address. */
  readonly manage?: { readonly label: string; readonly path: string };
}

/** The words of a mail, given what the service is called. */
export type Wording = (product: string) => MailWords;

const BOTH = `The link and the code work once, for ${LIFETIME_MINUTES} minutes.`;
const LINK = `The link works once, for ${LIFETIME_MINUTES} minutes.`;

export const REGISTER: Wording = (product) => ({
  subject: `Confirm your address for ${product}`,
  heading: 'Confirm your address',
  paragraphs: [`Someone created a ${product} account with this address. If it was you, confirm it here.`],
  action: 'Confirm address',
  lifetime: BOTH,
  foot: 'Not you? Ignore this mail; no account is opened without its code or link.',
});

/** Sent instead of a code; the page that asked for it looks the same. */
export const ALREADY_REGISTERED: Wording = (product) => ({
  subject: `You already have a ${product} account`,
  heading: 'You already have an account',
  paragraphs: [
    `Someone tried to create a ${product} account with this address. There is one already, and it stays as it is.`,
    'If it was you, sign in. If you do not know the password any more, choose a new one on the sign-in page.',
  ],
  action: 'Sign in',
  foot: 'Not you? Ignore this mail; nothing has changed.',
});

export const CONFIRM: Wording = (product) => ({
  ...REGISTER(product),
  paragraphs: [`This address belongs to a ${product} account. If it is yours, confirm it here.`],
  foot: 'Not you? Ignore this mail; without the code the address is not confirmed.',
});

export const CHANGE: Wording = (product) => ({
  subject: `Confirm your new address for ${product}`,
  heading: 'Confirm your new address',
  paragraphs: [`A ${product} account is to use this address from now on. If it is yours, confirm it here.`],
  action: 'Confirm address',
  lifetime: BOTH,
  foot: 'Not you? Ignore this mail; nothing changes without the code.',
});

/** To an address that another account has. */
export const CHANGE_TO_TAKEN: Wording = (product) => ({
  subject: `Someone wants to use this address for ${product}`,
  heading: 'This address has an account already',
  paragraphs: [
    `Someone asked to use this address for another ${product} account. Yours has it already, and it stays as it is.`,
    'If it was you, change the address of this account first.',
  ],
  foot: 'Not you? Ignore this mail; nothing has changed.',
});

export const CHANGED =
  (address: string): Wording =>
  (product) => ({
    subject: `Your ${product} account has a new address`,
    heading: 'Your account has a new address',
    paragraphs: [
      `Your account is signed in to with ${address} from now on. This is the last mail to the address it had.`,
    ],
    foot: 'Not you? Tell whoever runs this service at once.',
  });

export const RESET: Wording = (product) => ({
  subject: `Choose a new password for ${product}`,
  heading: 'Choose a new password',
  paragraphs: [
    `Someone asked for a new password for the ${product} account of this address. If it was you, choose it here.`,
  ],
  action: 'Choose a password',
  lifetime: LINK,
  foot: 'Not you? Ignore this mail; your password stays as it is.',
});

export const PASSWORD_CHANGED: Wording = (product) => ({
  subject: `Your ${product} password was changed`,
  heading: 'Your password was changed',
  paragraphs: ['All other browsers were signed out. If it was you, there is nothing to do.'],
  action: 'Choose another password',
  foot: 'Not you? Choose another password at once, and tell whoever runs this service.',
});

export const INVITATION: Wording = (product) => ({
  subject: `Your ${product} account`,
  heading: 'An account was made for you',
  paragraphs: [
    `${product} reaches many language models under one address, with one key. Choose a password, and your account is ready.`,
  ],
  action: 'Choose a password',
  lifetime: `The link works once, for ${INVITATION_DAYS} days.`,
  foot: 'Not expected? Ignore this mail; nobody can sign in to the account until a password is chosen.',
});
