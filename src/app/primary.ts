import { Logger } from '@nestjs/common';
import type { Config } from '../platform/config/index.js';
import { DatabaseServer } from '../platform/database/index.js';
import { serveLimits } from '../platform/limits/index.js';
import { serveMetrics } from './monitoring/index.js';
import { removePidFile, writePidFile } from './pid-file.js';
import { PinoLogger } from '../platform/logging/index.js';
import { FailedAndSaidSo } from './start.js';
import type { StopRequest } from './stop-request.js';
import { WorkerCrew, WorkerLinks } from '../platform/workers/index.js';

/** What a worker may take for its end beyond SHUTDOWN_GRACE_MS, in ms; whoever supervises this process gives it 40 s. */
const LAST_STEPS_MS = 35_000;

/** How a worker ends that cannot start: it has printed why. */
const SAID_SO = 'exit code 1';

/**
 * Runs the service in several processes until it is told to stop: this one has the database and the port, and serves
 * nothing; its workers do. Never returns: the process ends when they have, with 0 when all did so in order.
 * @throws what keeps it from starting; a worker that cannot start has said why, and the process ends with 1
 */
export async function runPrimary(config: Config, told: StopRequest): Promise<void> {
  Logger.overrideLogger(new PinoLogger(config.logLevel));
  const logger = new Logger('Primary');
  const database = await DatabaseServer.use(config, config.workers);
  await database.migrate();
  const crew = crewFor(config, database.url);
  const stopped = told.given.then((why) => {
    logger.log(`Stopping (${why}).`);
    return crew.stop(why);
  });
  void told.hurried.then((who) => crew.hurry(who));
  const failure = told.reason === undefined ? await crew.start() : undefined;
  if (told.reason === undefined) begin(config, logger, failure);
  const inOrder = await stopped;
  removePidFile(config.dataDir);
  await database.release();
  process.exit(inOrder ? 0 : 1);
}

/** @throws when the first worker has failed */
function begin({ dataDir }: Config, logger: Logger, failure: string | undefined): void {
  if (failure === SAID_SO) throw new FailedAndSaidSo();
  if (failure !== undefined) throw new Error(`The first worker exited before it was ready (${failure}).`);
  writePidFile(dataDir);
  surviveUncaughtErrors(logger);
}

function crewFor({ workers, port, shutdownGraceMs, secretKey }: Config, databaseUrl: string): WorkerCrew {
  const links = openLinks();
  // Not on a command line, which everybody on the machine can read. The key goes with the address: where there is one,
  // none is generated.
  const environment = { DATABASE_URL: databaseUrl, SECRET_KEY: secretKey.reveal() };
  return new WorkerCrew({ size: workers, environment, port, patienceMs: shutdownGraceMs + LAST_STEPS_MS }, links);
}

/** What workers ask: everything here that is counted for all of them. */
function openLinks(): WorkerLinks {
  const links = new WorkerLinks();
  serveLimits(links);
  serveMetrics(links);
  return links;
}

/** The end of this process would be that of all its workers. */
function surviveUncaughtErrors(logger: Logger): void {
  process.on('unhandledRejection', (err) => logger.error({ err }, 'Unhandled promise rejection.'));
  process.on('uncaughtException', (err) => logger.error({ err }, 'Uncaught exception.'));
}
