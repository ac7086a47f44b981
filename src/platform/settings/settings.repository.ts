import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { storableJson } from '../database/index.js';
import type { JsonObject } from '../shared/index.js';
import type { SectionName } from './sections/index.js';

/** A stored section. */
export interface StoredSection {
  readonly section: string;
  readonly value: JsonObject;
  readonly revision: number;
}

const ALL = 'SELECT section, value, revision FROM settings';
/** Of two saves over the same revision, the second changes nothing. */
const PUT = `
  INSERT INTO settings (section, value) VALUES ($1, $2)
  ON CONFLICT (section) DO UPDATE SET value = excluded.value, revision = settings.revision + 1, changed_at = now()
   WHERE settings.revision = $3 RETURNING revision`;

@Injectable()
export class SettingsRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  all(): Promise<readonly StoredSection[]> {
    return this.dataSource.query(ALL);
  }

  async one(section: SectionName, manager: EntityManager): Promise<StoredSection | undefined> {
    return (await manager.query<StoredSection[]>(`${ALL} WHERE section = $1`, [section]))[0];
  }

  /** @param revision that was read; 0: never saved. @returns false if it has changed since */
  async put(section: SectionName, value: object, revision: number, manager: EntityManager): Promise<boolean> {
    const saved = await manager.query<unknown[]>(PUT, [section, storableJson(JSON.stringify(value)), revision]);
    return saved.length === 1;
  }
}
