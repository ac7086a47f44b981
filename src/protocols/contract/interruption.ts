import type { AppError } from '../../platform/shared/index.js';

/** @returns whether the call fails by it now */
type InterruptionListener = (error: AppError) => boolean;

/**
 * Whether a call has to end before its time, told to whoever answers for it at the moment. One per call; a listener takes
 * the place of the one before.
 */
export class Interruption {
  private reason: AppError | undefined;
  private listener: InterruptionListener | undefined;

  /** Why the call has to end; undefined while it need not. */
  get error(): AppError | undefined {
    return this.reason;
  }

  /** Only the first reason counts. @returns whether the call fails by it now */
  interrupt(error: AppError): boolean {
    if (this.reason !== undefined) return false;
    this.reason = error;
    return this.listener?.(error) ?? false;
  }

  /** Calls at once when it has happened already. Returns what takes this listener off again. */
  listen(listener: InterruptionListener): () => void {
    this.listener = listener;
    if (this.reason !== undefined) listener(this.reason);
    return () => {
      if (this.listener === listener) this.listener = undefined;
    };
  }
}
