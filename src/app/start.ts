import { DatabaseServer, isConnectionLost } from '../platform/database/index.js';
import { reasonOf } from '../platform/shared/index.js';
import { StopRequest } from './shutdown.js';

/** A failed start that has already printed the reason. */
export class FailedAndSaidSo extends Error {}

/** Exits with a one-line reason when the start fails. */
export async function startOrEnd(start: (told: StopRequest) => Promise<void>): Promise<void> {
  try {
    await start(new StopRequest());
  } catch (error) {
    const reason = isConnectionLost(error)
      ? `The database connection was lost during startup (${reasonOf(error)}). Start again.`
      : reasonOf(error);
    if (!(error instanceof FailedAndSaidSo)) process.stderr.write(`error: ${reason}\n`);
    await DatabaseServer.releaseAll();
    process.exit(1);
  }
}
