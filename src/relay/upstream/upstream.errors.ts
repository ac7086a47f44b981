import { AppError, type ErrorKind } from '../../platform/shared/index.js';

/** By the code of the HTTP client. */
const CONNECTION_ERRORS: Readonly<Record<string, readonly [kind: ErrorKind, message: string]>> = {
  UND_ERR_CONNECT_TIMEOUT: ['timeout', 'Connecting to the upstream timed out.'],
  UND_ERR_HEADERS_TIMEOUT: ['timeout', 'The upstream did not start to respond in time.'],
  UND_ERR_BODY_TIMEOUT: ['timeout', 'The upstream stopped in the middle of its response.'],
};
const ANY_OTHER = ['upstream_error', 'The connection to the upstream failed.'] as const;

/**
 * A failure of the connection, in our words: nothing of the upstream's address reaches a client.
 * `failover`: another channel may still answer, as long as nothing of this answer has been sent on.
 */
export function connectionError(error: Error & { readonly code?: unknown }): AppError {
  if (error instanceof AppError) return error;
  const [kind, message] = CONNECTION_ERRORS[String(error.code)] ?? ANY_OTHER;
  return new AppError(kind, message, { failover: true }, { cause: error });
}
