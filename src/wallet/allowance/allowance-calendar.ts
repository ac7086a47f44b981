import { Injectable } from '@nestjs/common';
import { type EntityManager } from 'typeorm';
import type { AllowanceMonth } from './allowance.repository.js';

/** A moment and its month. */
export interface CalendarMoment {
  readonly at: Date;
  readonly month: AllowanceMonth;
  /** Start of the next month. */
  readonly next: Date;
}

const NOW = `
  SELECT clock.at, to_char(clock.at AT TIME ZONE 'UTC', 'YYYY-MM-01') AS month,
         (date_trunc('month', clock.at AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC' AS next
    FROM (SELECT clock_timestamp() AS at) AS clock`;

/** The database's clock, which all processes share. Tests override it. */
@Injectable()
export class AllowanceCalendar {
  async now(manager: EntityManager): Promise<CalendarMoment> {
    const [moment] = await manager.query<CalendarMoment[]>(NOW);
    if (moment === undefined) throw new TypeError('The database returned no time.');
    return moment;
  }
}

const NAME = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** `December 2026` */
export const monthName = (month: AllowanceMonth): string => NAME.format(new Date(`${month}T00:00:00Z`));
