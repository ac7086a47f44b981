import { DatabaseServer, isDatabaseOutage } from '../platform/database/index.js';
import { reasonOf } from '../platform/shared/index.js';
import { StopRequest } from './shutdown.js';

/** The driver's messages for a lost connection, which have no code. */
const LOST_CONNECTION = /^(?:Connection terminated|Client has encountered a connection error)/;

/** A failed start that has already printed the reason. */
export class FailedAndSaidSo extends Error {}

/** Exits with a one-line reason when the start fails. */
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
