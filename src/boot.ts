import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { join } from 'node:path';
import { AppModule } from './app.module.js';
import { Sweeper } from './billing/index.js';
import { CatalogService } from './catalog/index.js';
import { ChannelDirectory } from './channels/index.js';
import type { Config } from './config/index.js';
import { configureApp, createAdapter } from './configure-app.js';
import { DatabaseServer, isDatabaseOutage, Notifications } from './database/index.js';
import { DEMO_MODEL } from './demo/index.js';
import { surviveFaults } from './faults.js';
import { ProcessMetrics } from './monitoring/index.js';
import { CallCounts } from './limits/index.js';
import { Onboarding } from './onboarding/index.js';
import { removePidFile, writePidFile } from './pid-file.js';
import { PinoLogger } from './pino.logger.js';
import { ChannelProbe } from './relay/index.js';
import { codeOf, reasonOf } from './shared/index.js';
import { stopWhenTold } from './shutdown.js';
import { StopRequest } from './stop-request.js';
import { welcome } from './welcome.js';

/**
 * Starts the service, which then runs until it is told to stop. Told so while it starts, it goes no further than it has
 * to: what was started is closed in order, and an administrator's password is not made for nobody to read.
 * @throws whatever keeps it from starting
 */
export async function boot(config: Config, told: StopRequest): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, createAdapter(config), {
    bodyParser: false,
    abortOnError: false,
    logger: new PinoLogger(config.logLevel),
  });
  configureApp(app);
  if (told.reason === undefined) await open(app, config);
  if (told.reason === undefined) await greet(app, config);
  // Not before: whatever of the above is still under way would find everything closed.
  stopWhenTold(told, app, config, () => removePidFile(config.dataDir));
}

async function open(app: NestFastifyApplication, config: Config): Promise<void> {
  app.get(ProcessMetrics).watch();
  await app.get(Sweeper).start();
  app.get(CallCounts).open();
  await listen(app, config);
  writePidFile(config.dataDir);
  surviveFaults(app);
  await app.get(Notifications).announceServer();
  app.get(ChannelDirectory).serve();
  app.get(ChannelProbe).answerQuestions();
}

async function greet(app: NestFastifyApplication, config: Config): Promise<void> {
  const address = config.publicUrl ?? (await app.getUrl());
  const demoAnswers = app.get(CatalogService).current().models.has(DEMO_MODEL);
  const outbox = config.smtpUrl === undefined ? join(config.dataDir, 'outbox') : undefined;
  process.stdout.write(welcome(address, await app.get(Onboarding).firstRun(), demoAnswers, outbox));
}

/** @throws when the port is not to be had; the application is closed then, in order */
async function listen(app: NestFastifyApplication, { port, host }: Config): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close();
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} of ${host} is taken: set PORT to another one, or stop what listens there.`, {
      cause: error,
    });
  }
}

/** How the driver words a connection that broke, which has no code. */
const LOST_CONNECTION = /^(?:Connection terminated|Client has encountered a connection error)/;

/** Ends the process, with one line that says why, when it cannot start. */
export async function bootOrEnd(start: (told: StopRequest) => Promise<void>): Promise<void> {
  try {
    await start(new StopRequest());
  } catch (error) {
    const reason =
      isDatabaseOutage(error) || LOST_CONNECTION.test(reasonOf(error))
        ? `The database was lost during the start (${reasonOf(error)}): start again.`
        : reasonOf(error);
    process.stderr.write(`error: ${reason}\n`);
    await DatabaseServer.releaseAll();
    process.exit(1);
  }
}
