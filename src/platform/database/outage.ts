import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { codeOf, reasonOf } from '../shared/index.js';

/** SQLSTATE classes of errors in the statement itself: data, constraints, limits, names, functions. */
const STATEMENT_ERRORS = /^(?:2[1-3]|42|44|54|P0)/;

/** Matches the driver's errors about lost or refused connections, which have no code. */
const LOST_CONNECTION = /connect|timeout|terminated|queryable/i;

/** True if the connection or the server failed: the same statement may succeed later. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code === '' ? LOST_CONNECTION.test(reasonOf(error)) : !STATEMENT_ERRORS.test(code);
}

/** System errors of sockets. Those of files have the same codes, plus a path. */
const isOfSocket = (thrown: unknown): boolean =>
  /^E[A-Z]+$/.test(codeOf(thrown)) && (thrown as { readonly path?: unknown }).path === undefined;

/** Like `isOutage`, for errors that may be unrelated to a database: only errors of the driver or a socket count. */
export const isDatabaseOutage = (thrown: unknown): boolean =>
  (thrown instanceof QueryFailedError || thrown instanceof pg.DatabaseError || isOfSocket(thrown)) && isOutage(thrown);
