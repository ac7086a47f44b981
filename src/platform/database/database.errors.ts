import pg from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { AppError, codeOf, reasonOf } from '../shared/index.js';

/**
 * The database cannot be used until the administrator acts. The one-line message says how, and is printed without a
 * stack.
 */
export class DatabaseUnusable extends AppError {
  constructor(message: string, cause?: unknown) {
    super('unavailable', message, {}, cause === undefined ? {} : { cause });
  }
}

/** SQLSTATE classes of errors in the statement itself: data, constraints, limits, names, functions. */
const STATEMENT_ERRORS = /^(?:2[1-3]|42|44|54|P0)/;

/** Matches the driver's errors about lost or refused connections, which have no code. */
const LOST_CONNECTION = /connect|timeout|terminated|queryable/i;

/** True if the connection or the server failed: the same statement may succeed later. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code === '' ? LOST_CONNECTION.test(reasonOf(error)) : !STATEMENT_ERRORS.test(code);
}

/** Codes of a server that is starting, down or being replaced: connecting may succeed later. */
export const PASSING = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  '57P03',
]);

/** System errors of sockets. Those of files have the same codes, plus a path. */
const isOfSocket = (thrown: unknown): boolean =>
  /^E[A-Z]+$/.test(codeOf(thrown)) && (thrown as { readonly path?: unknown }).path === undefined;

/** Like `isOutage`, for errors that may be unrelated to a database: only errors of the driver or a socket count. */
export const isDatabaseOutage = (thrown: unknown): boolean =>
  (thrown instanceof QueryFailedError || thrown instanceof pg.DatabaseError || isOfSocket(thrown)) && isOutage(thrown);

/** Classes of SQLSTATE in which the server ended the connection: connection exception, operator intervention. */
const ENDED_BY_SERVER = /^(?:08|57P0)/;
/** The driver's messages for a lost connection, which have no code. */
const ENDED_UNEXPECTEDLY = /^(?:Connection terminated|Client has encountered a connection error)/;

/** True if an open connection was lost, as opposed to a server that refuses it or its statements. */
export const isConnectionLost = (thrown: unknown): boolean =>
  // TypeORM releases a runner whose connection is lost.
  thrown instanceof QueryRunnerAlreadyReleasedError ||
  ENDED_BY_SERVER.test(codeOf(thrown)) ||
  ENDED_UNEXPECTEDLY.test(reasonOf(thrown)) ||
  isOfSocket(thrown);
