import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/index.js';
import { KeysModule } from '../index.js';
import { MailModule } from '../../platform/mail/index.js';
import { MetricsModule } from '../../platform/metrics/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccountNotices } from './account-notices.js';
import { AlertMails } from './alert-mails.js';
import { AlertPost } from './alert-post.js';
import { AlertBook } from './alert-book.js';
import { AlertPreferences } from './alert-preferences.js';
import { AlertTimings } from './alert-timings.js';
import { AlertWatch } from './alert-watch.js';
import { Crossings } from './crossings.js';
import { KeyNoticeMails } from './key-notice-mails.js';
import { ThresholdScans } from './threshold-scans.repository.js';
import { ThresholdWatch } from './threshold-watch.js';

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
