import type { Wording } from './mail-words.js';

const NOT_YOU = 'Not you? Choose another password at once, and tell whoever runs this service.';

export const SECOND_FACTOR_ON: Wording = (product) => ({
  subject: `Your ${product} account has a second factor`,
  heading: 'Your second factor is on',
  paragraphs: [
    'Signing in takes a code of your app from now on, beside your password. Keep the recovery codes for when you cannot use the app.',
    'All other browsers were signed out.',
  ],
  action: 'Choose another password',
  foot: NOT_YOU,
});

export const SECOND_FACTOR_OFF: Wording = (product) => ({
  subject: `Your ${product} account has no second factor any more`,
  heading: 'Your second factor is off',
  paragraphs: [
    'Signing in takes your password alone from now on. Your recovery codes are void, and all other browsers were signed out.',
  ],
  action: 'Choose another password',
  foot: NOT_YOU,
});

/** By an operator. */
export const SECOND_FACTOR_REMOVED: Wording = (product) => ({
  subject: `Your ${product} account has no second factor any more`,
  heading: 'Your second factor was removed',
  paragraphs: [
    `Whoever runs ${product} removed it. Signing in takes your password alone from now on, your recovery codes are void, and all browsers were signed out.`,
    'You can turn it on again.',
  ],
  action: 'Choose another password',
  foot: 'Did not ask for it? Choose another password at once, and tell whoever runs this service.',
  manage: { label: 'Turn it on again', path: '/account/second-factor' },
});

export const RECOVERY_CODES_REPLACED: Wording = (product) => ({
  subject: `Your ${product} account has new recovery codes`,
  heading: 'Your recovery codes were replaced',
  paragraphs: ['The ones from before are void, and all other browsers were signed out.'],
  action: 'Choose another password',
  foot: NOT_YOU,
});

/** @param left how many can still be used */
export const RECOVERY_CODE_USED =
  (left: number): Wording =>
  (product) => ({
    subject: `A recovery code of your ${product} account was used`,
    heading: 'A recovery code was used',
    paragraphs: [
      `It took the place of a code of your app, and is void now. ${codesLeft(left)}`,
      'If it was you, make new ones before you run out.',
    ],
    action: 'Choose another password',
    foot: NOT_YOU,
    manage: { label: 'Make new recovery codes', path: '/account/second-factor/recovery-codes' },
  });

/** `7 of your recovery codes are left.` */
export function codesLeft(left: number): string {
  if (left === 0) return 'None of your recovery codes is left.';
  return left === 1 ? 'One of your recovery codes is left.' : `${left} of your recovery codes are left.`;
}
