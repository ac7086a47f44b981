import type { Wording } from './mail-text.js';

const NOT_YOU = 'Not you? Change your password immediately and contact an administrator.';

export const SECOND_FACTOR_ON: Wording = (product) => ({
  subject: `Two-factor authentication was turned on for ${product}`,
  heading: 'Two-factor authentication is on',
  paragraphs: [
    'You now sign in with your password and a code from your app. Keep the recovery codes in case you cannot use the app.',
    'All other sessions were signed out.',
  ],
  action: 'Change password',
  foot: NOT_YOU,
});

export const SECOND_FACTOR_OFF: Wording = (product) => ({
  subject: `Two-factor authentication was turned off for ${product}`,
  heading: 'Two-factor authentication is off',
  paragraphs: [
    'You now sign in with your password only. Your recovery codes no longer work, and all other sessions were signed out.',
  ],
  action: 'Change password',
  foot: NOT_YOU,
});

/** By an operator. */
export const SECOND_FACTOR_REMOVED: Wording = (product) => ({
  subject: `Two-factor authentication was turned off for ${product}`,
  heading: 'Two-factor authentication was turned off',
  paragraphs: [
    `An administrator of ${product} turned off two-factor authentication for your account. You now sign in with your password only. Your recovery codes no longer work, and all sessions were signed out.`,
    'You can turn it on again.',
  ],
  action: 'Change password',
  foot: 'Not requested by you? Change your password immediately and contact an administrator.',
  manage: { label: 'Turn it on again', path: '/account/second-factor' },
});

export const RECOVERY_CODES_REPLACED: Wording = (product) => ({
  subject: `Your ${product} account has new recovery codes`,
  heading: 'Your recovery codes were replaced',
  paragraphs: ['Your previous codes no longer work, and all other sessions were signed out.'],
  action: 'Change password',
  foot: NOT_YOU,
});

/** @param left how many can still be used */
export const RECOVERY_CODE_USED =
  (left: number): Wording =>
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

/** `7 of your recovery codes are left.` */
export function codesLeft(left: number): string {
  if (left === 0) return 'You have no recovery codes left.';
  return left === 1 ? 'You have 1 recovery code left.' : `You have ${left} recovery codes left.`;
}
