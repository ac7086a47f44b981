import { Logger } from '@nestjs/common';
import { Config } from '../../platform/config/index.js';
import { DatabaseServer } from '../../platform/database/index.js';
import { AppError } from '../../platform/shared/index.js';
import { StderrLogger } from './stderr.logger.js';

/** For commands that work on the database as a whole. */
export interface WholeDatabase {
  readonly config: Config;
  readonly server: DatabaseServer;
  /** Aborted when the command is asked to stop. */
  readonly signal: AbortSignal;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs work on the service's database without the application; nothing is migrated. A running embedded server is used
 * as it is; a stopped one is started and stopped again.
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
