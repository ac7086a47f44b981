import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/index.js';
import { AccountNotices } from './account-notices.js';
import { AlertSettingsRepository } from './alert-settings.repository.js';

@Module({
  imports: [AuthModule],
  providers: [AlertSettingsRepository, AccountNotices],
  exports: [AccountNotices],
})
export class AlertsModule {}
