import { setTimeout as sleep } from 'node:timers/promises';

const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE '% listen'`;

/** Does `work` while whatever listens for notifications in the database of `sql` is cut off again and again. */
export async function withoutNotifications(
  sql: { query(statement: string): Promise<unknown> },
  work: () => Promise<void>,
): Promise<void> {
  const back = new AbortController();
  const cuts = (async () => {
    for (; !back.signal.aborted; await sleep(20)) await sql.query(CUT);
  })();
  try {
    await work();
  } finally {
    back.abort();
    await cuts;
  }
}
