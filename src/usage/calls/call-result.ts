/** How a call went, as people read it: `call_result` in the database, and `open` for one that runs. */
export type CallResult = 'completed' | 'cut' | 'refused' | 'failed' | 'timeout' | 'open';

/** In the order that they are offered in. */
export const CALL_RESULTS: readonly CallResult[] = ['completed', 'cut', 'refused', 'failed', 'timeout', 'open'];

/** Its words. */
export const RESULT_LABELS: Readonly<Record<CallResult, string>> = {
  completed: 'Completed',
  cut: 'Cut short',
  refused: 'Refused',
  failed: 'Failed',
  timeout: 'Timed out',
  open: 'In progress',
};

export const RESULT_TONES: Readonly<Record<CallResult, 'ok' | 'warn' | 'bad' | ''>> = {
  completed: 'ok',
  cut: 'warn',
  refused: 'bad',
  failed: 'bad',
  timeout: 'bad',
  open: '',
};

/** SQL for how a call went, of finished calls under this name. */
export const resultOf = (calls: string): string =>
  `call_result(${calls}.status, ${calls}.error_reason, ${calls}.billing_basis)`;

/** SQL for whether that is refused, failed or timed out. */
export const hasFailed = (result: string): string => `${result} IN ('refused', 'failed', 'timeout')`;
