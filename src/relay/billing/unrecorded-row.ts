import { type AppError, errorReason, recordedMessage } from '../../platform/shared/index.js';
import type { CallRow } from './call-row.js';

const NOTHING_CHARGED: Partial<CallRow> = {
  cost: '0',
  billing_basis: 'free',
  prompt_tokens: null,
  cached_tokens: null,
  cache_write_tokens: null,
  completion_tokens: null,
  reasoning_tokens: null,
  lines: null,
};

/**
 * The row of an answer that was complete but not recorded in time. Its client has been told so and has not seen its end:
 * of a stream it has all but that, and pays for it; of an unstreamed answer it has nothing, and pays nothing.
 */
export const unrecordedRow = (row: CallRow, error: AppError): CallRow => ({
  ...row,
  status: 'failed',
  error_reason: errorReason(error.kind),
  error_message: recordedMessage(error),
  ...(row.stream ? { billing_basis: row.billing_basis === 'free' ? 'free' : 'partial' } : NOTHING_CHARGED),
});
