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
