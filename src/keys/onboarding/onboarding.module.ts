import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/index.js';
import { CatalogModule } from '../../catalog/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AlertsModule } from '../alerts/index.js';
import { KeysModule } from '../index.js';
import { AccountImport } from './account-import.js';
import { AccountDeletion, Onboarding, StartingCredits } from './onboarding.service.js';
import { ClaimAssignments } from './claim-assignments.js';
import { MappedMemberships } from './mapped-memberships.js';
import { AddressChange, AddressProof } from './proofs/address-proof.js';
import { Confirmations, PasswordResets } from './proofs/password-resets.js';
import { IdentityAccounts, IdentityOwners } from './registration/identity-accounts.js';
import { Invitations } from './registration/invitations.js';
import {
  RegistrationChecks,
  RegistrationMails,
  RegistrationOpening,
  Registrations,
} from './registration/registration.service.js';
import { RegistrationRepository, SignUpRules } from './registration/sign-up-rules.js';
import { UserInvitations } from './user-invitations.js';

@Module({
  imports: [AlertsModule, AuthModule, CatalogModule, WalletModule, KeysModule, SettingsModule],
  providers: [
    Onboarding,
    AccountDeletion,
    AccountImport,
    AddressChange,
    AddressProof,
    Confirmations,
    IdentityAccounts,
    IdentityOwners,
    ClaimAssignments,
    MappedMemberships,
    PasswordResets,
    Invitations,
    RegistrationChecks,
    RegistrationMails,
    RegistrationOpening,
    RegistrationRepository,
    Registrations,
    SignUpRules,
    StartingCredits,
    UserInvitations,
  ],
  exports: [
    Onboarding,
    AccountDeletion,
    AccountImport,
    AddressChange,
    AddressProof,
    Confirmations,
    IdentityAccounts,
    IdentityOwners,
    Invitations,
    ClaimAssignments,
    PasswordResets,
    Registrations,
    SignUpRules,
    UserInvitations,
  ],
})
export class OnboardingModule {}
