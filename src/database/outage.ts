import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { codeOf, reasonOf } from '../shared/index.js';

/** SQLSTATE classes of statements that are at fault themselves: data, constraints, limits, names, a function's own. */
const FAULT_OF_STATEMENT = /^(?:2[1-3]|42|44|54|P0)/;

/** How the driver words a connection that it lost or could not get, which has no code. */
const LOST_CONNECTION = /connect|timeout|terminated|queryable/i;

/** Whether the connection failed, or a server that is going or coming: the same statement may succeed later. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code === '' ? LOST_CONNECTION.test(reasonOf(error)) : !FAULT_OF_STATEMENT.test(code);
}

/** The same of an error that may have nothing to do with a database: what neither driver nor socket raised is none. */
export const isDatabaseOutage = (thrown: unknown): boolean =>
  (thrown instanceof QueryFailedError || thrown instanceof pg.DatabaseError || /^E[A-Z]+$/.test(codeOf(thrown))) &&
  isOutage(thrown);
