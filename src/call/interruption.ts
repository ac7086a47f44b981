import type { AppError } from '../shared/index.js';

/**
 * Whether a call has to end before its time, told to whoever answers for it at the moment. One per call; a listener takes
 * the place of the one before.
 */
export class Interruption {
  private reason: AppError | undefined;
  private listener: ((error: AppError) => void) | undefined;

  /** Why the call has to end; undefined while it need not. */
  get error(): AppError | undefined {
    return this.reason;
  }

  /** Only the first reason counts. */
  interrupt(error: AppError): void {
    if (this.reason !== undefined) return;
    this.reason = error;
    this.listener?.(error);
  }

  /** Calls at once when it has happened already. Returns what takes this listener off again. */
  listen(listener: (error: AppError) => void): () => void {
    this.listener = listener;
    if (this.reason !== undefined) listener(this.reason);
    return () => {
      if (this.listener === listener) this.listener = undefined;
    };
  }
}
