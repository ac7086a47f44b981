import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { InvalidAccount } from './account.js';

/** As Node names them; UTC first, which is not among them. */
const NAMES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/**
 * Time zones that people can choose. Node and PostgreSQL have lists of their own, of different ages, and days are cut
 * by both: a zone that one of them does not know would break the pages of whoever has it.
 */
@Injectable()
export class TimeZones {
  private known: Promise<readonly string[]> | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** Read once: PostgreSQL goes through its files for it. */
  list(): Promise<readonly string[]> {
    this.known ??= this.read().catch((error: unknown) => {
      this.known = undefined;
      throw error;
    });
    return this.known;
  }

  /** @throws InvalidAccount of one that cannot be chosen */
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
