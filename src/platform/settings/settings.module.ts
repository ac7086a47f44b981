import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/index.js';
import { MailPassword } from './mail-password.js';
import { PaymentSecrets } from './payment-secrets.js';
import { SettingsEditor } from './settings.editor.js';
import { SettingsRepository } from './settings.repository.js';
import { Settings } from './settings.service.js';
import { TypedSections } from './typed-sections.js';

@Module({
  imports: [AuditModule],
  providers: [MailPassword, PaymentSecrets, TypedSections, SettingsRepository, Settings, SettingsEditor],
  exports: [Settings, SettingsEditor],
})
export class SettingsModule {}
