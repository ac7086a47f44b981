import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import { join } from 'node:path';
import { AlertWatch } from '../keys/alerts/index.js';
import { AppModule } from './app.module.js';
import { Sweeper } from '../relay/billing/index.js';
import { CatalogService } from '../catalog/index.js';
import { ChannelDirectory } from '../catalog/channels/index.js';
import type { Config } from '../platform/config/index.js';
import { configureApp, createAdapter } from './configure-app.js';
import { Notifications } from '../platform/database/index.js';
import { DEMO_MODEL } from './demo/index.js';
import { surviveUncaughtErrors } from './uncaught-errors.js';
import { KeyWatch } from '../keys/index.js';
import { CallCounts } from '../platform/limits/index.js';
import { ProcessMetrics } from './monitoring/index.js';
import { Onboarding } from '../keys/onboarding/index.js';
import { removePidFile, writePidFile } from './pid-file.js';
import { PinoLogger } from '../platform/logging/index.js';
import { ChannelProbe } from '../relay/index.js';
import { Settings } from '../platform/settings/index.js';
import { codeOf } from '../platform/shared/index.js';
import { stopOnSignal } from './shutdown.js';
import type { StopRequest } from './stop-request.js';
import { CallRetention, UsageRoller } from '../usage/index.js';
import { AllowanceTurn } from '../wallet/index.js';
import { welcome } from './welcome.js';
import { isFirst, isWorker, PrimaryLink, SERVES } from '../platform/workers/index.js';

/** Background work of every serving process; each coordinates through the database. */
const BACKGROUND = [CallRetention, UsageRoller, AlertWatch, AllowanceTurn, KeyWatch];

/**
 * Starts the service, or one of its workers; it runs until a stop is requested. A stop during the start skips the
 * remaining steps and closes in order, before a first administrator password is generated.
 * @throws when it cannot start
 */
export async function boot(config: Config, told: StopRequest): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, createAdapter(config), {
    bodyParser: false,
    abortOnError: false,
    logger: new PinoLogger(config.logLevel, config.logFormat),
  });
  configureApp(app);
  if (told.reason === undefined) await open(app, config);
  if (told.reason === undefined && isFirst()) await greet(app, config);
  if (told.reason === undefined && isWorker) await app.get(PrimaryLink).ask(SERVES, undefined);
  // Last: the steps above must not run while everything is being closed.
  stopOnSignal(told, app, config, () => isWorker || removePidFile(config.dataDir));
}

async function open(app: NestFastifyApplication, config: Config): Promise<void> {
  app.get(ProcessMetrics).watch();
  await app.get(Sweeper).start();
  await app.get(CallCounts).open();
  await listen(app, config);
  if (!isWorker) writePidFile(config.dataDir);
  surviveUncaughtErrors(app);
  await app.get(Notifications).announceServer();
  app.get(ChannelDirectory).serve();
  app.get(ChannelProbe).answerQuestions();
  for (const work of BACKGROUND) app.get<{ start(): void }>(work).start();
}

async function greet(app: NestFastifyApplication, config: Config): Promise<void> {
  const address = config.publicUrl ?? (await app.getUrl());
  const demoAnswers = app.get(CatalogService).current().models.has(DEMO_MODEL);
  const { smtpUrl, unusable } = app.get(Settings).current().mail;
  const outbox = smtpUrl === undefined && unusable === undefined ? join(config.dataDir, 'outbox') : undefined;
  process.stdout.write(welcome(address, await app.get(Onboarding).firstRun(), demoAnswers, outbox));
}

/** @throws when the port is not available; the application is closed first */
async function listen(app: NestFastifyApplication, { port, host }: Config): Promise<void> {
  try {
    const listening = app.listen(port, host);
    // A worker gets the port from its primary and would wait forever for a dead one.
    await (isWorker ? Promise.race([listening, once(process, 'disconnect')]) : listening);
  } catch (error) {
    await app.close();
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new Error(
      `Port ${port} of ${host} is already in use. Set PORT to a free port, or stop the process that uses it.`,
      {
        cause: error,
      },
    );
  }
}
