import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { ChannelsModule } from '../../../catalog/channels/index.js';
import { MailModule } from '../../../platform/mail/index.js';
import { RelayModule } from '../../../relay/index.js';
import { SettingsModule } from '../../../platform/settings/index.js';
import { UsageModule } from '../../../usage/index.js';
import { SectionFacts } from './section-facts.js';
import { SettingsController } from './settings.controller.js';
import { SettingsPages } from './settings.pages.js';
import { TestMail } from './test-mail.js';
import { TestMailPages } from './test-mail.pages.js';
import { DefaultLimitPages } from './default-limits.pages.js';
import { DefaultLimitSettings } from './default-limits.js';

/** The settings page: one form per section, saved separately, and a test email. */
@Module({
  imports: [AccessModule, ChannelsModule, MailModule, RelayModule, SettingsModule, UsageModule],
  controllers: [SettingsController],
  providers: [SettingsPages, SectionFacts, TestMail, TestMailPages, DefaultLimitPages, DefaultLimitSettings],
})
export class SettingPagesModule {}
