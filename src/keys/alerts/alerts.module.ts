import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/index.js';
import { KeysModule } from '../index.js';
import { MailModule } from '../../platform/mail/index.js';
import { MetricsModule } from '../../platform/metrics/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccountNotices, AlertPreferences } from './account-notices.js';
import { AlertMails, KeyNoticeMails } from './alert-mails.js';
import { AlertBook, AlertPost } from './alert-post.js';
import { AlertTimings } from './alert.js';
import { AlertWatch, ThresholdWatch } from './alert-watch.js';
import { Crossings, ThresholdScans } from './crossings.js';

@Module({
  imports: [AuthModule, KeysModule, MailModule, MetricsModule, SettingsModule, WalletModule],
  providers: [
    AlertPreferences,
    AlertBook,
    AlertTimings,
    AlertMails,
    ThresholdScans,
    Crossings,
    ThresholdWatch,
    AlertPost,
    AlertWatch,
    AccountNotices,
    KeyNoticeMails,
  ],
  exports: [AccountNotices, AlertPreferences, AlertWatch, AlertBook, KeyNoticeMails, ThresholdWatch],
})
export class AlertsModule {}
