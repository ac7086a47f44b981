import { errorHeaders, messageWithId, type RenderedError, USUAL_STATUSES } from '../../../src/call/index.js';
import type { AppError } from '../../../src/shared/index.js';

/** An error as an HTTP answer. */
export function renderTelegraphError(error: AppError, requestId: string): RenderedError {
  const status = USUAL_STATUSES[error.kind];
  return { status, headers: errorHeaders(error, status), body: wireError(error, requestId) };
}

interface WireError {
  readonly error: { readonly status: number; readonly message: string; readonly param: string | null };
  readonly [name: string]: WireError['error'];
}

/** What went wrong, as the body of an answer or an event of a stream. */
export const wireError = (error: AppError, requestId: string): WireError => ({
  error: {
    status: USUAL_STATUSES[error.kind],
    message: messageWithId(error.message, requestId),
    param: error.details.param ?? null,
  },
});
