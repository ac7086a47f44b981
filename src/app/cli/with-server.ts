import { Logger } from '@nestjs/common';
import { Config } from '../../platform/config/index.js';
import { DatabaseServer } from '../../platform/database/index.js';
import { AppError } from '../../platform/shared/index.js';
import { StderrLogger } from './stderr.logger.js';

/** What a command has that works on the database as a whole. */
export interface WholeDatabase {
  readonly config: Config;
  readonly server: DatabaseServer;
  /** Aborted when the command is told to stop. */
  readonly signal: AbortSignal;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does a piece of work with the database that the service uses, and without the application: nothing is migrated. An
 * embedded server that runs is adopted; one that does not is started, used and stopped.
 */
export async function withServer<T>(work: (database: WholeDatabase) => Promise<T>): Promise<T> {
  Logger.overrideLogger(new StderrLogger());
  const config = Config.load();
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals): void =>
    stopping.abort(new AppError('internal', `Stopped by ${signal}; nothing was changed.`));
  for (const name of SIGNALS) process.on(name, stop);
  const server = await DatabaseServer.use(config, 0);
  try {
    return await work({ config, server, signal: stopping.signal });
  } catch (error) {
    throw stopping.signal.aborted ? stopping.signal.reason : error;
  } finally {
    await server.release();
    for (const name of SIGNALS) process.off(name, stop);
  }
}
