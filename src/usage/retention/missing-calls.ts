import { calendarDate } from '../../platform/format/index.js';
import type { Query } from '../time-limited-reads.js';

/** Null: none was ever dropped. */
const KEPT_FROM = `SELECT (max(month) + interval '1 month') AT TIME ZONE 'UTC' AS kept FROM dropped_calls`;

/** What is said where calls from this time on are asked for and some of them are not kept; undefined: all are. */
export async function missingCalls(query: Query, time: Date): Promise<string | undefined> {
  const [row] = await query<{ kept: Date | null }>(KEPT_FROM);
  const kept = row?.kept ?? time;
  return time < kept ? `Calls before ${calendarDate(kept, 'UTC')} have been deleted.` : undefined;
}
