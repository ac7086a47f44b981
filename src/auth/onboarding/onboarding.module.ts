import { Module } from '@nestjs/common';
import { AlertsModule } from '../../keys/alerts/index.js';
import { AuthModule } from '../index.js';
import { KeysModule } from '../../keys/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { WalletModule } from '../../wallet/index.js';
import { CatalogModule } from '../../catalog/index.js';
import { AccountDeletion } from './account-deletion.js';
import { AccountImport } from './import/account-import.js';
import { Onboarding } from './onboarding.service.js';
import { AccountEmailController } from './proofs/account-email.controller.js';
import { AddressChange } from './proofs/address-change.js';
import { AddressProof } from './proofs/address-proof.js';
import { Confirmations } from './proofs/confirmations.js';
import { PasswordController } from './proofs/password.controller.js';
import { PasswordResets } from './proofs/password-resets.js';
import { VerifyAddressController } from './proofs/verify-address.controller.js';
import { VerifyLinkController } from './proofs/verify-link.controller.js';
import { VerifyController } from './proofs/verify.controller.js';
import { Invitations } from './registration/invitations.js';
import { RegistrationChecks } from './registration/registration.checks.js';
import { RegistrationController } from './registration/registration.controller.js';
import { RegistrationMails } from './registration/registration.mails.js';
import { RegistrationOpening } from './registration/registration.opening.js';
import { RegistrationRepository } from './registration/registration.repository.js';
import { Registrations } from './registration/registration.service.js';
import { SignUpRules } from './registration/sign-up-rules.js';
import { StartingCredits } from './starting-credits.js';

@Module({
  imports: [AlertsModule, AuthModule, CatalogModule, WalletModule, KeysModule, SettingsModule],
  controllers: [
    RegistrationController,
    VerifyController,
    VerifyAddressController,
    VerifyLinkController,
    PasswordController,
    AccountEmailController,
  ],
  providers: [
    Onboarding,
    AccountDeletion,
    AccountImport,
    AddressChange,
    AddressProof,
    Confirmations,
    PasswordResets,
    Invitations,
    RegistrationChecks,
    RegistrationMails,
    RegistrationOpening,
    RegistrationRepository,
    Registrations,
    SignUpRules,
    StartingCredits,
  ],
  exports: [Onboarding, AccountDeletion, AccountImport, Invitations],
})
export class OnboardingModule {}
