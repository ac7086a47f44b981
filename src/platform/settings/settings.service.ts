import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Config } from '../config/index.js';
import { ReconnectingCopy, Notifications, TOPICS } from '../database/index.js';
import { type CurrentSettings, currentSettings } from './current-settings.js';
import { MailPassword } from './mail-password.js';
import { PaymentSecrets } from './payment-secrets.js';
import { readSection } from './sections/sections.js';
import { SettingsRepository, type StoredSection } from './settings.repository.js';

/** The settings in memory. Looking at them costs no query; they are at most as old as a notification takes, or a second. */
@Injectable()
export class Settings implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Settings');
  private readonly copy: ReconnectingCopy<CurrentSettings>;
  private settings: CurrentSettings;

  constructor(
    private readonly config: Config,
    private readonly password: MailPassword,
    private readonly payment: PaymentSecrets,
    repository: SettingsRepository,
    notifications: Notifications,
  ) {
    this.settings = this.settingsOf([]);
    this.copy = new ReconnectingCopy(notifications, {
      topic: TOPICS.settings,
      read: async () => this.settingsOf(await repository.all()),
      use: (settings) => (this.settings = settings),
      warn: (reason) => this.logger.warn(`Failed to reload settings; using the previous ones: ${reason}`),
    });
  }

  onModuleInit(): Promise<void> {
    return this.copy.open();
  }

  onModuleDestroy(): Promise<void> {
    return this.copy.close();
  }

  /** What holds now, of one moment: ask again for each thing that is done. */
  current(): CurrentSettings {
    return this.settings;
  }

  /** Reads them again. Whoever awaits it sees everything that was committed before the call. */
  reload(): Promise<void> {
    return this.copy.reload();
  }

  private settingsOf(stored: readonly StoredSection[]): CurrentSettings {
    const valueOf = (name: string): StoredSection['value'] =>
      stored.find(({ section }) => section === name)?.value ?? {};
    const sections = {
      site: readSection('site', valueOf('site')),
      signUp: readSection('signUp', valueOf('signUp')),
      mail: readSection('mail', valueOf('mail')),
      payment: readSection('payment', valueOf('payment')),
      retention: readSection('retention', valueOf('retention')),
    };
    return currentSettings(sections, this.config, { password: this.password, payment: this.payment });
  }
}
