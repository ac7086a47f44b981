import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/index.js';
import { KeysModule } from '../keys/index.js';
import { WalletModule } from '../wallet/index.js';
import { Onboarding } from './onboarding.service.js';

@Module({ imports: [AuthModule, WalletModule, KeysModule], providers: [Onboarding], exports: [Onboarding] })
export class OnboardingModule {}
