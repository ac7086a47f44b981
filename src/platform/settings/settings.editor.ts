import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../audit/index.js';
import { Notifications, TOPICS } from '../database/index.js';
import { AppError } from '../shared/index.js';
import { type FixedSetting, readSection, type SecretState, SectionValues } from './section-values.js';
import { type SectionName, sectionOf, type Sections } from './sections/index.js';
import { SettingsRepository } from './settings.repository.js';
import { Settings } from './settings.service.js';

/** The section was saved by another administrator meanwhile. Nothing was changed. */
export class SettingsChangedMeanwhile extends AppError {
  constructor() {
    super('conflict', 'These settings were changed while you edited them. Review the current values and try again.');
  }
}

/** A stored section, to be edited. */
export interface EditedSection<Name extends SectionName> {
  readonly value: Sections[Name];
  /** 0: never saved. */
  readonly revision: number;
  /** Settings that the environment overrides, by key. */
  readonly fixed: Readonly<Record<string, FixedSetting>>;
  /** Stored secrets by form field. */
  readonly secrets: Readonly<Record<string, SecretState>>;
}

/** Changes settings, a section at a time. */
@Injectable()
export class SettingsEditor {
  constructor(
    private readonly repository: SettingsRepository,
    private readonly values: SectionValues,
    private readonly audit: AuditLog,
    private readonly notifications: Notifications,
    private readonly settings: Settings,
  ) {}

  async section<Name extends SectionName>(name: Name): Promise<EditedSection<Name>> {
    const { value, revision } = await this.repository.transaction((manager) => this.stored(name, manager));
    return { value, revision, fixed: this.values.fixed(name), secrets: this.values.secretStates(name, value) };
  }

  /**
   * Saves a whole section. All processes follow, this one before the call returns. Settings that the environment
   * overrides stay as stored.
   * @param revision of the section when its form was opened
   * @param typed by form field
   * @returns one line per changed setting
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
    const after = this.values.typed(name, typed, before.value);
    const lines = changedLines(name, before.value, after);
    if (lines.length === 0) return lines;
    if (!(await this.repository.put(name, after, revision, manager))) throw new SettingsChangedMeanwhile();
    await this.audit.record(
      { action: 'changed', object: { kind: 'setting', id: name, name: sectionOf(name).name }, lines },
      manager,
    );
    await this.notifications.publish(TOPICS.settings, { section: name }, manager);
    return lines;
  }

  private async stored<Name extends SectionName>(
    name: Name,
    manager: EntityManager,
  ): Promise<{ readonly value: Sections[Name]; readonly revision: number }> {
    const row = await this.repository.one(name, manager);
    return { value: readSection(name, row?.value ?? {}), revision: row?.revision ?? 0 };
  }
}

/** One line per changed setting: `starting credit $0 → $5`. */
export function changedLines<Name extends SectionName>(
  name: Name,
  before: Sections[Name],
  after: Sections[Name],
): readonly string[] {
  const [old, now]: readonly Readonly<Record<string, unknown>>[] = [before, after];
  return Object.entries(sectionOf(name).settings).flatMap(([key, setting]) => {
    const [was, is] = [old?.[key], now?.[key]];
    if (setting.isHidden) return was === is ? [] : [`${setting.audit} ${is === '' ? 'removed' : 'changed'}`];
    const [from, to] = [setting.toAudit(was), setting.toAudit(is)];
    return from === to ? [] : [`${setting.audit} ${from || '(none)'} → ${to || '(none)'}`];
  });
}
