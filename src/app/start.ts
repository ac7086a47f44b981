import { DatabaseServer, isDatabaseOutage } from '../platform/database/index.js';
import { reasonOf } from '../platform/shared/index.js';
import { StopRequest } from './stop-request.js';

/** How the driver words a connection that broke, which has no code. */
const LOST_CONNECTION = /^(?:Connection terminated|Client has encountered a connection error)/;

/** A start that failed, and has said why. */
export class FailedAndSaidSo extends Error {}

/** Ends the process, with one line that says why, when it cannot start. */
export async function startOrEnd(start: (told: StopRequest) => Promise<void>): Promise<void> {
  try {
    await start(new StopRequest());
  } catch (error) {
    const reason =
      isDatabaseOutage(error) || LOST_CONNECTION.test(reasonOf(error))
        ? `The database connection was lost during startup (${reasonOf(error)}). Start again.`
        : reasonOf(error);
    if (!(error instanceof FailedAndSaidSo)) process.stderr.write(`error: ${reason}\n`);
    await DatabaseServer.releaseAll();
    process.exit(1);
  }
}
