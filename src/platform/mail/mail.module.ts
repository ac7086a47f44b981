import { Module } from '@nestjs/common';
import { SettingsModule } from '../settings/index.js';
import { MailRetries } from './mail-retries.js';
import { MailTransport } from './mail-transport.js';
import { MailTemplates } from './mail-templates.js';
import { Mailer } from './mailer.js';

@Module({
  imports: [SettingsModule],
  providers: [MailTransport, MailRetries, MailTemplates, Mailer],
  exports: [MailTemplates, Mailer],
})
export class MailModule {}
