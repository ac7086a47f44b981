import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/index.js';
import { MailModule } from '../../mail/index.js';
import { SettingsModule } from '../../settings/index.js';
import { SettingsController } from './settings.controller.js';
import { SettingsPages } from './settings.pages.js';
import { TestMail } from './test-mail.js';
import { TestMailPages } from './test-mail.pages.js';

/** The page of settings: a form for each section, saved on its own, and a test mail. */
@Module({
  imports: [AuthModule, MailModule, SettingsModule],
  controllers: [SettingsController],
  providers: [SettingsPages, TestMail, TestMailPages],
})
export class SettingPagesModule {}
