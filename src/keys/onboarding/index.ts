// New accounts with everything they start with (wallet, credit, first key), created in one transaction: by
// registration after the email address is verified, by sign-in with a provider, by import, or as the first
// administrator. Also account deletion and password resets.
export { AccountDeletion, type FirstRun, Onboarding, type OpeningCredit } from './onboarding.service.js';
export { AccountImport } from './account-import.js';
export { amountError, ImportRefused, type ImportRow, parseImport } from './import-file.js';
export { IdentityAccounts, IdentityOwners } from './registration/identity-accounts.js';
export { InvitationRefused, Invitations } from './registration/invitations.js';
export { InvitationSettled, InvitedAccountInUse, type PendingInvitation, UserInvitations } from './user-invitations.js';
export { ClaimAssignments, type MappingTargets } from './claim-assignments.js';
export { OnboardingModule } from './onboarding.module.js';
export { AddressChange, AddressProof, isRenewable, type Waiting } from './proofs/address-proof.js';
export { PasswordResets } from './proofs/password-resets.js';
export { Registrations } from './registration/registration.service.js';
export { SignUpRules } from './registration/sign-up-rules.js';
