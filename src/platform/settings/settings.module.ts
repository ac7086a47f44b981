import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/index.js';
import { SectionValues } from './section-values.js';
import { SettingsEditor } from './settings.editor.js';
import { SettingsRepository } from './settings.repository.js';
import { Settings } from './settings.service.js';

@Module({
  imports: [AuditModule],
  providers: [SectionValues, SettingsRepository, Settings, SettingsEditor],
  exports: [Settings, SettingsEditor],
})
export class SettingsModule {}
