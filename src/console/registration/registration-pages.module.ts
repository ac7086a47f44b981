import { Module } from '@nestjs/common';
import { OnboardingModule } from '../../keys/onboarding/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { AccessModule } from '../access/index.js';
import { AccountEmailController } from './account-email.controller.js';
import { PasswordController } from './password.controller.js';
import { RegistrationController } from './registration.controller.js';
import { VerifyAddressController } from './verify-address.controller.js';
import { VerifyLinkController } from './verify-link.controller.js';
import { VerifyController } from './verify.controller.js';

@Module({
  imports: [AccessModule, OnboardingModule, SettingsModule],
  controllers: [
    RegistrationController,
    VerifyController,
    VerifyAddressController,
    VerifyLinkController,
    PasswordController,
    AccountEmailController,
  ],
})
export class RegistrationPagesModule {}
