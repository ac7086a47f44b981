import { Module } from '@nestjs/common';
import { AlertsModule } from '../../keys/alerts/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule } from '../access/index.js';
import { AlertPages } from './alert.pages.js';
import { AlertsController } from './alerts.controller.js';

@Module({
  imports: [AccessModule, AlertsModule, SettingsModule, WalletModule],
  controllers: [AlertsController],
  providers: [AlertPages],
})
export class AlertPagesModule {}
