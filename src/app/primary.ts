import { Logger } from '@nestjs/common';
import type { Config } from '../platform/config/index.js';
import { DatabaseServer } from '../platform/database/index.js';
import { serveLimits } from '../platform/limits/index.js';
import { PinoLogger } from '../platform/logging/index.js';
import { WorkerPool, WorkerLinks } from '../platform/workers/index.js';
import { serveMetrics } from './monitoring/index.js';
import { removePidFile, writePidFile } from './pid-file.js';
import { ReportedError, type StopRequest } from './shutdown.js';

/** Max ms that a worker may take to stop beyond SHUTDOWN_GRACE_MS. Supervisors should allow 40 s beyond it. */
const LAST_STEPS_MS = 35_000;

/** The exit of a worker that could not start and has printed the reason. */
const SAID_SO = 'exit code 1';

/**
 * Runs the service in several processes until a stop is requested. This process owns the database and the port; its
 * workers serve. Never returns: the process exits after its workers, with 0 when all of them stopped in order.
 * @throws when it cannot start; a worker that cannot start prints the reason, and the process exits with 1
 */
export async function runPrimary(config: Config, stopRequest: StopRequest): Promise<void> {
  Logger.overrideLogger(new PinoLogger(config.logLevel, config.logFormat));
  const logger = new Logger('Primary');
  const database = await DatabaseServer.use(config, config.workers);
  await database.migrate();
  const pool = poolFor(config, database.url);
  const stopped = stopRequest.given.then((why) => {
    logger.log(`Stopping (${why}).`);
    return pool.stop(why);
  });
  void stopRequest.hurried.then((who) => pool.hurry(who));
  const failure = stopRequest.reason === undefined ? await pool.start() : undefined;
  if (stopRequest.reason === undefined) begin(config, logger, failure);
  const inOrder = await stopped;
  removePidFile(config.dataDir);
  await database.release();
  process.exit(inOrder ? 0 : 1);
}

/** @throws when the first worker has failed */
function begin({ dataDir }: Config, logger: Logger, failure: string | undefined): void {
  if (failure === SAID_SO) throw new ReportedError();
  if (failure !== undefined) throw new Error(`The first worker exited before it was ready (${failure}).`);
  writePidFile(dataDir);
  surviveUncaughtErrors(logger);
}

function poolFor({ workers, port, shutdownGraceMs, secretKey }: Config, databaseUrl: string): WorkerPool {
  const links = openLinks();
  // Not as arguments, which other users of the machine can read. SECRET_KEY is passed on, so that no worker generates one.
  const environment = { DATABASE_URL: databaseUrl, SECRET_KEY: secretKey.reveal() };
  return new WorkerPool({ size: workers, environment, port, patienceMs: shutdownGraceMs + LAST_STEPS_MS }, links);
}

/** Counters that the primary keeps for all workers. */
function openLinks(): WorkerLinks {
  const links = new WorkerLinks();
  serveLimits(links);
  serveMetrics(links);
  return links;
}

/** If this process exits, all its workers do. */
function surviveUncaughtErrors(logger: Logger): void {
  process.on('unhandledRejection', (err) => logger.error({ err }, 'Unhandled promise rejection.'));
  process.on('uncaughtException', (err) => logger.error({ err }, 'Uncaught exception.'));
}
