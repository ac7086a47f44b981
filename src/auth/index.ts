// Accounts: email addresses, passwords, roles and states; sessions; two-factor authentication; verification codes and
// links with their emails; throttling of attempts. Wallets and keys of an account are created by keys/onboarding.
export {
  AccountChangedMeanwhile,
  AccountExists,
  AccountGone,
  AccountNotFound,
  InvalidAccount,
  LastAdministrator,
} from './account.errors.js';
export { AccountService, type PreparedAccount } from './account.service.js';
export { AccountStatus } from './account-status.js';
export { type AccountTerms, termsRevision } from './account-terms.js';
export type { Account, AccountRole, AccountState, CreatedAccount, NewAccount } from './account.js';
export { AuthModule } from './auth.module.js';
export { alikeForm, normalizeEmail } from './email-address.js';
export { AccountMails } from './mails/account-mails.js';
export type { MailText } from './mails/mail-text.js';
export { MailWriter } from './mails/mail-writer.js';
export { generatePassword } from './password.js';
export { checkChoice } from './password-choice.js';
export { Passwords } from './passwords.js';
export { PasswordChange } from './sign-in/password-change.js';
export { ConfirmedForm, RecentSignIn } from './sign-in/recent-sign-in.js';
export { SignIn, SignInRefused } from './sign-in/sign-in.service.js';
export { CodeNotAccepted, SecondFactorIsOff, SecondFactorIsOn } from './second-factor/second-factor.errors.js';
export { SecondFactorRemoval } from './second-factor/second-factor-removal.js';
export { type SecondFactor, SecondFactors } from './second-factor/second-factors.service.js';
export { idleTime } from './sessions/idle-time.js';
export { type Session, SessionNotFound, SessionService } from './sessions/session.service.js';
export { besideField, durationOf, Throttle, TooManyTries } from './throttle/throttle.js';
export { TimeZones } from './time-zones.js';
export { CodeRefused, LinkRefused, SentJustNow } from './verification/verification.errors.js';
export { type ProofMail, ProofRequests } from './verification/proof-requests.js';
export { type OpenedLink, type StoredVerification, Verifications } from './verification/verification.service.js';
export {
  INVITATION_DAYS,
  LIFETIME_MINUTES,
  type MailedProof,
  type Purpose,
  RESEND_AFTER_MS,
  type Verification,
} from './verification/verification.js';
export { OwnPassword } from './sign-in/own-password.js';
export type { Visit, Visitor } from './visit.js';
export { SecurityLog } from './security-log.js';
export { browserName } from './sessions/browser-name.js';
export { OwnSecondFactor } from './second-factor/own-second-factor.js';
export { recoveryCodeHash } from './second-factor/recovery-codes.js';
export { FactorSetUp, type SecretView } from './second-factor/factor-set-up.js';
export { codesLeft } from './mails/second-factor-text.js';
export { type AcceptedCode, SecondFactorCheck } from './second-factor/second-factor-check.js';
