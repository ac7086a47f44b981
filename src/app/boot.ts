import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ChannelDirectory } from '../catalog/channels/index.js';
import { CatalogService } from '../catalog/index.js';
import { ConsoleModule } from '../console/index.js';
import { WebModule } from '../console/web/index.js';
import { AlertWatch } from '../keys/alerts/index.js';
import { KeyWatch } from '../keys/index.js';
import { type FirstRun, Onboarding } from '../keys/onboarding/index.js';
import { AuditModule } from '../platform/audit/index.js';
import { type Config, ConfigModule, PACKAGE_ROOT } from '../platform/config/index.js';
import { DatabaseModule, Notifications } from '../platform/database/index.js';
import { CallCounts } from '../platform/limits/index.js';
import { PinoLogger } from '../platform/logging/index.js';
import { MetricsModule } from '../platform/metrics/index.js';
import { Settings } from '../platform/settings/index.js';
import { AppError, formatUsd } from '../platform/shared/index.js';
import { isFirst, isWorker, PrimaryLink, SERVES, WorkersModule } from '../platform/workers/index.js';
import { Sweeper } from '../relay/billing/index.js';
import { ApiModule, ChannelProbe, currentRequestId, RelayModule, RunState, TracingModule } from '../relay/index.js';
import { CallRetention, UsageRoller } from '../usage/index.js';
import { AllowanceRenewal } from '../wallet/index.js';
import { configureApp, createAdapter } from './configure-app.js';
import { DEMO_MODEL, DemoModule } from './demo/index.js';
import { ErrorFilter } from './error.filter.js';
import { listen } from './listen.js';
import { MonitoringModule, ProcessMetrics } from './monitoring/index.js';
import { removePidFile, writePidFile } from './pid-file.js';
import { stopOnSignal, type StopRequest } from './shutdown.js';

/** Background work of every serving process; each coordinates through the database. */
const BACKGROUND = [CallRetention, UsageRoller, AlertWatch, AllowanceRenewal, KeyWatch];

/**
 * Starts the service, or one of its workers; it runs until a stop is requested. A stop during the start skips the
 * remaining steps and closes in order, before a first administrator password is generated.
 * @throws when it cannot start
 */
export async function boot(config: Config, stopRequest: StopRequest): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, createAdapter(config), {
    bodyParser: false,
    abortOnError: false,
    logger: new PinoLogger(config.logLevel, config.logFormat),
  });
  configureApp(app);
  if (stopRequest.reason === undefined) await open(app, config);
  if (stopRequest.reason === undefined && isFirst()) await greet(app, config);
  if (stopRequest.reason === undefined && isWorker) await app.get(PrimaryLink).ask(SERVES, undefined);
  // Last: the steps above must not run while everything is being closed.
  stopOnSignal(stopRequest, app, config, () => isWorker || removePidFile(config.dataDir));
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
  app.get(ChannelProbe).serveRequests();
  for (const work of BACKGROUND) app.get<{ start(): void }>(work).start();
}

async function greet(app: NestFastifyApplication, config: Config): Promise<void> {
  const address = config.publicUrl ?? (await app.getUrl());
  const hasDemoModel = app.get(CatalogService).current().models.has(DEMO_MODEL);
  const { smtpUrl, unusable } = app.get(Settings).current().mail;
  const outbox = smtpUrl === undefined && unusable === undefined ? join(config.dataDir, 'outbox') : undefined;
  process.stdout.write(printWelcome(address, await app.get(Onboarding).firstRun(), hasDemoModel, outbox));
}

/** The composition root: the only file that knows every module. */
@Module({
  imports: [
    ConfigModule,
    DatabaseModule,
    AuditModule,
    MetricsModule,
    MonitoringModule,
    TracingModule,
    WorkersModule,
    DemoModule,
    WebModule,
    ConsoleModule,
    ApiModule,
    // Last: it handles all remaining paths.
    RelayModule,
  ],
  providers: [ErrorFilter],
})
export class AppModule {}

/** How to run a command in a release, in a checkout, and in the container image, which contains no sources. */
const COMMAND = existsSync(join(PACKAGE_ROOT, 'switchboard'))
  ? './switchboard'
  : existsSync(join(PACKAGE_ROOT, 'src'))
    ? 'npm run -s switchboard --'
    : 'switchboard';

/**
 * The startup message; on the first run with everything needed for a first call.
 * @param hasDemoModel whether the demo model is available
 * @param outbox the folder that mail is written to; undefined when a mail server is configured
 */
export function printWelcome(
  address: string,
  firstRun: FirstRun | undefined,
  hasDemoModel: boolean,
  outbox: string | undefined,
): string {
  const mail =
    outbox === undefined
      ? ''
      : `Email is written to ${outbox} until a mail server is configured (SMTP_URL or Settings).\n`;
  if (firstRun === undefined) return `\nSwitchboard is at ${address}\n${mail}\n`;
  const { email, password, keySecret, credit } = firstRun;
  return `
Switchboard is at ${address}
Sign in there with a browser. Programs use the API key.

  Administrator   ${email}
  Password        ${password}   (shown once)
                  You must change it at first sign-in.
  First API key   ${keySecret}   (shown once, with $${formatUsd(credit)} of credit)

Base URL: ${address}/v1 for OpenAI clients, ${address} for Anthropic and Google clients.
${mail}
${hasDemoModel ? firstCalls(address, keySecret) : 'No models are available yet.'}

To connect a real model, sign in and add a model and a channel at ${address}/admin,
or apply a file: start the server with OPENAI_KEY=…, then run ${COMMAND} catalog apply examples/openai.yaml

`;
}

/** Sample calls of the demo model. */
function firstCalls(address: string, key: string): string {
  const messages = [{ role: 'user', content: 'Hello' }];
  const defaults = { model: DEMO_MODEL, stream: true };
  const bearer = [`Authorization: Bearer ${key}`];
  const lines = [
    curl(`${address}/v1/chat/completions`, bearer, { ...defaults, messages }),
    curl(`${address}/v1/messages`, [`x-api-key: ${key}`, 'anthropic-version: 2023-06-01'], {
      ...defaults,
      max_tokens: 256,
      messages,
    }),
    curl(`${address}/v1/responses`, bearer, { ...defaults, input: 'Hello' }),
  ];
  return ['Try it: the built-in demo model responds until you add a channel.', ...lines].join('\n\n');
}

/** No value contains a single quote. */
const curl = (url: string, headers: readonly string[], body: object): string =>
  `curl -N ${url} ${[...headers, 'content-type: application/json'].map((header) => `-H '${header}'`).join(' ')} -d '${JSON.stringify(body)}'`;

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
