import type { AppError } from '../../platform/shared/index.js';

/** Final whoever sends them: the same request would be refused again. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 409, 413, 415, 422, 426]);
/** The longest wait that a client is told. One vendor's SDK obeys any number and freezes its program for so long. */
export const MAX_RETRY_AFTER_SECONDS = 60;
const REQUEST_ID = '(request id: ';

/**
 * The headers that errors of every dialect carry, beside the request id's.
 * @param status as the dialect words this error
 */
export function errorHeaders(error: AppError, status: number): Record<string, string> {
  const headers: Record<string, string> = {};
  const shouldRetry = shouldRetryOf(error, status);
  if (shouldRetry !== undefined) headers['x-should-retry'] = String(shouldRetry);
  const seconds = retryAfterOf(error);
  if (seconds !== undefined) headers['retry-after'] = String(seconds);
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="switchboard"';
  return headers;
}

/** The message as clients get it: it ends with the request's id, once, also when an upstream put its own there. */
export function messageWithId(message: string, requestId: string): string {
  const own = message.trimEnd();
  const suffix = own.endsWith(')') ? own.lastIndexOf(REQUEST_ID) : -1;
  return `${suffix < 0 ? own : own.slice(0, suffix).trimEnd()} ${REQUEST_ID}${requestId})`;
}

/** Undefined leaves the decision to the status, as SDKs take it. */
function shouldRetryOf(error: AppError, status: number): boolean | undefined {
  if (error.details.shouldRetry !== undefined) return error.details.shouldRetry;
  if (error.kind === 'insufficient_quota' || FINAL_STATUSES.has(status)) return false;
  return undefined;
}

function retryAfterOf(error: AppError): number | undefined {
  const seconds = error.details.retryAfterSeconds ?? (error.kind === 'rate_limit_exceeded' ? 1 : undefined);
  if (seconds === undefined) return undefined;
  return Math.min(Math.max(Math.ceil(seconds), 1), MAX_RETRY_AFTER_SECONDS);
}
