import { Module } from '@nestjs/common';
import { SettingsModule } from '../../platform/settings/index.js';
import { AccessModule } from '../access/index.js';
import { AccountPasswordController, OwnPasswordController } from './account-password.controller.js';
import { AccountController, AccountSessionsController, PreferencesController } from './account.controller.js';
import { RecoveryCodesController, TurnOffController } from './second-factor/recovery-codes.controller.js';
import { SetUpController } from './second-factor/set-up.controller.js';
import { SignInCodeController } from './second-factor/sign-in-code.controller.js';
import { PendingSignIns, SignInSteps } from './second-factor/sign-in-steps.js';
import { SignInController } from './sign-in.controller.js';

@Module({
  imports: [AccessModule, SettingsModule],
  controllers: [
    PreferencesController,
    SignInController,
    AccountController,
    AccountPasswordController,
    AccountSessionsController,
    OwnPasswordController,
    SignInCodeController,
    SetUpController,
    TurnOffController,
    RecoveryCodesController,
  ],
  providers: [PendingSignIns, SignInSteps],
})
export class AccountPagesModule {}
