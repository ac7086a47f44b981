import type { AppError } from '../../../src/platform/shared/index.js';
import {
  DEFAULT_STATUSES,
  errorHeaders,
  messageWithId,
  type RenderedError,
} from '../../../src/protocols/contract/index.js';

/**
 * Renders an HTTP error. `DEFAULT_STATUSES` has a status for every kind: keep it if the vendor documents no other. If
 * errors have a `type` or `code`, add a `Record<ErrorKind, …>`, so that a new kind does not compile until it has one.
 * If clients recognize an error by its message, such as a prompt that is too long, start the message with that text.
 * `errorHeaders` adds `retry-after`, `x-should-retry` and `www-authenticate`.
 */
export function renderTelegraphError(error: AppError, requestId: string): RenderedError {
  const status = DEFAULT_STATUSES[error.kind];
  return { status, headers: errorHeaders(error, status), body: wireError(error, requestId) };
}

interface WireError {
  readonly error: { readonly status: number; readonly message: string; readonly param: string | null };
  readonly [name: string]: WireError['error'];
}

/** The body of an HTTP error, and the event that ends a failed stream. */
export const wireError = (error: AppError, requestId: string): WireError => ({
  error: {
    status: DEFAULT_STATUSES[error.kind],
    message: messageWithId(error.message, requestId),
    param: error.details.param ?? null,
  },
});
