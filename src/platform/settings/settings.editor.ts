import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../audit/index.js';
import { Notifications, TOPICS } from '../database/index.js';
import { changedLines } from './changed-lines.js';
import { readSection, type SectionName, type Sections } from './sections/sections.js';
import { SettingsChangedMeanwhile } from './settings.errors.js';
import { SettingsRepository } from './settings.repository.js';
import { Settings } from './settings.service.js';
import { TypedSections } from './typed-sections.js';

/** As the record of changes calls them. */
const NAMES: Readonly<Record<SectionName, string>> = {
  site: 'Site',
  signUp: 'Sign-up',
  mail: 'Mail',
  payment: 'Payment',
  retention: 'Retention',
};

/** A section as it is stored, for whoever changes it. */
export interface EditedSection<Name extends SectionName> {
  readonly value: Sections[Name];
  /** What it is saved over; 0: nobody has saved it yet. */
  readonly revision: number;
  /** By field that the environment sets, the variable. */
  readonly fixed: Readonly<Record<string, string>>;
}

/** Changes settings, a section at a time. */
@Injectable()
export class SettingsEditor {
  constructor(
    private readonly repository: SettingsRepository,
    private readonly typed: TypedSections,
    private readonly audit: AuditLog,
    private readonly notifications: Notifications,
    private readonly settings: Settings,
  ) {}

  section<Name extends SectionName>(name: Name): Promise<EditedSection<Name>> {
    return this.repository.transaction((manager) => this.stored(name, manager));
  }

  /**
   * Saves a section whole. Every process follows at once, this one before it returns; fields that the environment sets
   * stay as they are stored.
   * @param revision of the section, when its fields were shown
   * @param typed by field, as it is stored or as people type it; of mail, the `serverPassword` too; of payment, its secrets
   *   and `removeSecretKey` and `removeWebhookSecret`, `yes` to have none stored
   * @returns what has changed, a line for each field
   * @throws InvalidSettings, SettingsChangedMeanwhile
   */
  async change(
    name: SectionName,
    revision: number,
    typed: Readonly<Record<string, unknown>>,
  ): Promise<readonly string[]> {
    const lines = await this.repository.transaction((manager) => this.save(name, revision, typed, manager));
    await this.settings.reload();
    return lines;
  }

  private async save(
    name: SectionName,
    revision: number,
    typed: Readonly<Record<string, unknown>>,
    manager: EntityManager,
  ): Promise<readonly string[]> {
    const before = await this.stored(name, manager);
    if (before.revision !== revision) throw new SettingsChangedMeanwhile();
    const after = this.typed.read(name, typed, before.value);
    const lines = changedLines(name, before.value, after);
    if (lines.length === 0) return lines;
    if (!(await this.repository.put(name, after, revision, manager))) throw new SettingsChangedMeanwhile();
    await this.audit.record(
      { action: 'changed', object: { kind: 'setting', id: name, name: NAMES[name] }, lines },
      manager,
    );
    await this.notifications.publish(TOPICS.settings, { section: name }, manager);
    return lines;
  }

  private async stored<Name extends SectionName>(name: Name, manager: EntityManager): Promise<EditedSection<Name>> {
    const row = await this.repository.one(name, manager);
    return { value: readSection(name, row?.value ?? {}), revision: row?.revision ?? 0, fixed: this.typed.fixed(name) };
  }
}
