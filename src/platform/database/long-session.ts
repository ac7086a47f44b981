import pg from 'pg';
import { CONNECT_TIMEOUT_MS } from './pools.js';
import { withRole } from './connection-url.js';

/** A session without statement timeouts, for work that may take hours. An open transaction ends with the session. */
export async function longSession<T>(url: string, role: string, work: (session: pg.Client) => Promise<T>): Promise<T> {
  const session = new pg.Client({
    connectionString: withRole(url, role),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  session.on('error', () => undefined); // whatever is asked next rejects
  try {
    await session.connect();
    await session.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0');
    return await work(session);
  } finally {
    await session.end().catch(() => undefined);
  }
}
