import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { RunState, currentRequestId } from '../relay/index.js';
import { AppError } from '../platform/shared/index.js';

/**
 * Ends one call, not the process, on an uncaught exception.
 *
 * The exception came from a callback that will never complete, so its call would hang: it fails as `internal`. The usual
 * advice is to exit. Here calls share no state but the database, whose constraints keep money exact, and exiting would
 * abort every other call. An unhandled rejection is only logged, since no call depends on it. A failing call logs its
 * error, so each exception is logged once.
 */
export function surviveUncaughtErrors(app: NestFastifyApplication): void {
  const logger = new Logger('Fault');
  const log = (thrown: unknown, what: string): void => {
    try {
      logger.error({ err: thrown, request_id: currentRequestId() }, what);
    } catch {
      // The terminal or pipe is gone; that must not end the process.
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

/** Hides the message of a stray AppError from the client: it was not meant for this call. */
class ErrorInCall extends Error {
  constructor(cause: unknown) {
    super('Uncaught exception during this call.', { cause });
  }
}
