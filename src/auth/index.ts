// Accounts: email addresses, passwords, roles and states; sign-in providers; passkeys; sessions; two-factor authentication; verification codes and
// links with their emails; throttling of attempts. Wallets and keys of an account are created by keys/onboarding.
export {
  type Account,
  AccountChangedMeanwhile,
  AccountExists,
  AccountGone,
  AccountNotFound,
  type AccountRole,
  type AccountState,
  type AccountTerms,
  type CreatedAccount,
  InvalidAccount,
  LastAdministrator,
  type NewAccount,
  termsRevision,
  TimeZones,
} from './account.js';
export { AccountService, type PreparedAccount } from './account.service.js';
export { AccountStatus } from './account-status.js';
export { AuthModule } from './auth.module.js';
export { alikeForm, normalizeEmail } from './email-address.js';
export { AccountMails, MailWriter } from './mails/account-mails.js';
export { codesLeft, type JoinInvitation, type MailText } from './mails/mail-text.js';
export { checkChoice, generatePassword, Passwords } from './passwords.js';
export { OwnPassword, PasswordChange } from './sign-in/password-change.js';
export { PasswordPolicy, PasswordSignInIsOff } from './sign-in/password-policy.js';
export { type CreationOptions, PasskeyRefused, type RequestOptions } from './passkeys/passkey-ceremonies.js';
export { Passkeys, PasskeySignIn } from './passkeys/passkeys.service.js';
export {
  IdentityNotFound,
  IdentityTaken,
  isIssuerOf,
  LastSignInMethod,
  LinkedIdentities,
  type LinkedIdentity,
  PendingIdentities,
} from './providers/linked-identities.js';
export type { ProviderIdentity } from './providers/openid-client.js';
export { AccountMapping } from './providers/account-mapping.js';
export {
  type Claims,
  type ClaimRule,
  distributedClaims,
  InvalidRule,
  type ListedClaim,
  listedClaims,
  MAPPED_ROLES,
  type MappedAssignments,
  MAX_RULES,
  NO_ASSIGNMENTS,
  type RuleResult,
  ruleResults,
  targetOf,
} from './providers/claim-rules.js';
export { ProviderHttp } from './providers/provider-http.js';
export { ProviderLogout, ProviderSessions } from './providers/provider-sessions.js';
export {
  providerLink,
  type ProviderArrival,
  type ProviderAttempt,
  ProviderSignIn,
  ProviderSignInExpired,
  type ProvedIdentity,
} from './providers/provider-sign-in.js';
export {
  type ClaimSettings,
  isLoopback,
  PROVIDER_KINDS,
  ProviderChangedMeanwhile,
  type ProviderKind,
  type SignInProvider,
  SignInProviders,
  type TypedProvider,
} from './providers/sign-in-providers.js';
export { AccountSuspended, ConfirmedForm, RecentSignIn, SignIn, SignInRefused } from './sign-in/sign-in.service.js';
export { CodeNotAccepted, recoveryCodeHash, SecondFactorIsOff, SecondFactorIsOn } from './second-factor/totp.js';
export { FactorSetUp, OwnSecondFactor, SecondFactorRemoval, type SecretView } from './second-factor/factor-set-up.js';
export { type SecondFactor, SecondFactors } from './second-factor/second-factors.service.js';
export {
  browserName,
  idleTime,
  OrganizationNotFound,
  type Session,
  SessionNotFound,
  SessionService,
} from './sessions/session.service.js';
export { asFieldError, durationOf, Throttle, TooManyAttempts } from './throttle/throttle.js';
export {
  type AddressPurpose,
  CodeRefused,
  INVITATION_DAYS,
  LIFETIME_MINUTES,
  LinkRefused,
  type VerificationSecret,
  type Purpose,
  RESEND_AFTER_MS,
  ResendTooSoon,
  type Verification,
} from './verification/verification.js';
export {
  type OpenedLink,
  type VerificationMail,
  VerificationMailer,
  type StoredVerification,
  Verifications,
} from './verification/verification.service.js';
export {
  allows,
  changedKeys,
  ORGANIZATION_ROLES,
  type OrganizationRole,
  type OrganizationScope,
  type Owner,
  ownIn,
  type Permission,
  viewedCalls,
  viewedKeys,
} from './scope.js';
export { type RefusalReason, SecurityLog, type Visit, type Visitor } from './visit.js';
export { type AcceptedCode, SecondFactorCheck } from './second-factor/second-factor-check.js';
