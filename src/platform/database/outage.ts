import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { codeOf, reasonOf } from '../shared/index.js';

/** SQLSTATE classes of statements that are at fault themselves: data, constraints, limits, names, a function's own. */
const STATEMENT_ERRORS = /^(?:2[1-3]|42|44|54|P0)/;

/** How the driver words a connection that it lost or could not get, which has no code. */
const LOST_CONNECTION = /connect|timeout|terminated|queryable/i;

/** Whether the connection failed, or a server that is going or coming: the same statement may succeed later. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code === '' ? LOST_CONNECTION.test(reasonOf(error)) : !STATEMENT_ERRORS.test(code);
}

/** Raised by the system for a connection. Those for files have the same codes, and name a path. */
const isOfSocket = (thrown: unknown): boolean =>
  /^E[A-Z]+$/.test(codeOf(thrown)) && (thrown as { readonly path?: unknown }).path === undefined;

/** The same of an error that may have nothing to do with a database: what neither driver nor socket raised is none. */
export const isDatabaseOutage = (thrown: unknown): boolean =>
  (thrown instanceof QueryFailedError || thrown instanceof pg.DatabaseError || isOfSocket(thrown)) && isOutage(thrown);
