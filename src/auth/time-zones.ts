import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { InvalidAccount } from './account.js';

/** Node's list, which lacks UTC. */
const NAMES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** Selectable time zones: those that both Node and PostgreSQL know, because both compute days. */
@Injectable()
export class TimeZones {
  private known: Promise<readonly string[]> | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** Read once: PostgreSQL reads files for it. */
  list(): Promise<readonly string[]> {
    this.known ??= this.read().catch((error: unknown) => {
      this.known = undefined;
      throw error;
    });
    return this.known;
  }

  /** @throws InvalidAccount when it is not selectable */
  async check(timeZone: string): Promise<void> {
    if (!(await this.list()).includes(timeZone))
      throw new InvalidAccount('timeZone', 'Choose a time zone from the list.');
  }

  private async read(): Promise<readonly string[]> {
    const rows = await this.dataSource.query<{ name: string }[]>('SELECT name FROM pg_timezone_names');
    const names = new Set(rows.map(({ name }) => name));
    return NAMES.filter((name) => names.has(name));
  }
}
