import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { RunState, currentRequestId } from '../relay/index.js';
import { AppError } from '../platform/shared/index.js';

/**
 * What nobody caught, once the service runs: it ends one call and not the process.
 *
 * An exception that nobody caught came out of a callback, so whatever that callback was to do will not happen: the call
 * that it belongs to would wait without end, and fails as `internal`. The process goes on although it is usually advised
 * to end it: what a call owns is its own, what calls share is the database, where constraints and not this process keep
 * money exact, and ending here would cut off every other call. A rejection that nobody waited for is only logged, since
 * no call depends on it. A call that fails logs why, so that an exception stands in the log once either way.
 */
export function surviveUncaughtErrors(app: NestFastifyApplication): void {
  const logger = new Logger('Fault');
  const log = (thrown: unknown, what: string): void => {
    try {
      logger.error({ err: thrown, request_id: currentRequestId() }, what);
    } catch {
      // The terminal is gone, or the pipe: no reason to end either.
    }
  };
  process.on('unhandledRejection', (thrown) => log(thrown, 'Unhandled promise rejection.'));
  process.on('uncaughtException', (thrown) => {
    const requestId = currentRequestId();
    const itsCallFails =
      requestId !== undefined && app.get(RunState).fail(requestId, AppError.from(new ErrorInCall(thrown)));
    if (!itsCallFails) log(thrown, 'Uncaught exception.');
  });
}

/** Keeps an AppError that went astray from being told to a client as if it had been meant for it. */
class ErrorInCall extends Error {
  constructor(cause: unknown) {
    super('Uncaught exception during this call.', { cause });
  }
}
