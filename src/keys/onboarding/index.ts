// New accounts with everything they start with, in one transaction: registered by their owners once their address is
// proved, imported, or the administrator of a first run; proofs of addresses, and new passwords by mail.
// Does not own accounts, wallets or keys: it only brings their services together.
export { AccountDeletion } from './account-deletion.js';
export { AccountImport, ImportRefused } from './import/account-import.js';
export { InvitationRefused, Invitations } from './registration/invitations.js';
export { OnboardingModule } from './onboarding.module.js';
export { type FirstRun, Onboarding } from './onboarding.service.js';
export { AddressChange } from './proofs/address-change.js';
export { PasswordResets } from './proofs/password-resets.js';
export { Registrations } from './registration/registration.service.js';
export { SignUpRules } from './registration/sign-up-rules.js';
export { AddressProof, type Waiting, isRenewable } from './proofs/address-proof.js';
