import type { EntityManager } from 'typeorm';
import { AllowanceCalendar, type CalendarMoment } from '../../src/wallet/index.js';

/** A calendar whose page the test turns; the time of day is the database's. */
export class ShiftedCalendar extends AllowanceCalendar {
  /** What is added to the month that it is. */
  monthsAhead = 0;

  override async now(manager: EntityManager): Promise<CalendarMoment> {
    const now = await super.now(manager);
    const [year = 0, month = 0] = now.month.split('-').map(Number);
    const first = (ahead: number): Date => new Date(Date.UTC(year, month - 1 + ahead, 1));
    return {
      at: now.at,
      month: first(this.monthsAhead).toISOString().slice(0, 10),
      next: first(this.monthsAhead + 1),
    };
  }
}
