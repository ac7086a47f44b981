import { Module } from '@nestjs/common';
import { SettingsModule } from '../../platform/settings/index.js';
import { AccessModule } from '../access/index.js';
import { AccountPasswordController } from './account-password.controller.js';
import { AccountSessionsController } from './account-sessions.controller.js';
import { AccountController } from './account.controller.js';
import { OwnPasswordController } from './own-password.controller.js';
import { PreferencesController } from './preferences.controller.js';
import { PendingSignIns } from './second-factor/pending-sign-ins.js';
import { RecoveryCodesController } from './second-factor/recovery-codes.controller.js';
import { SetUpController } from './second-factor/set-up.controller.js';
import { SignInCodeController } from './second-factor/sign-in-code.controller.js';
import { SignInSteps } from './second-factor/sign-in-steps.js';
import { TurnOffController } from './second-factor/turn-off.controller.js';
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
