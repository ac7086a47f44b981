import { ConsoleLogger, type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthModule } from '../../auth/index.js';
import { ChannelsModule } from '../../catalog/channels/index.js';
import { CatalogModule } from '../../catalog/index.js';
import { KeysModule } from '../../keys/index.js';
import { OnboardingModule } from '../../keys/onboarding/index.js';
import { OrganizationsModule } from '../../keys/organizations/index.js';
import { actingAs, AuditModule, COMMAND_LINE } from '../../platform/audit/index.js';
import { ConfigModule } from '../../platform/config/index.js';
import { DatabaseModule, DatabaseServer } from '../../platform/database/index.js';
import { ApiModule } from '../../relay/index.js';
import { UsageModule } from '../../usage/index.js';
import { WalletModule } from '../../wallet/index.js';

/** Runs work with the application's services; starts the application first and closes it afterwards. */
export type WithApp = <T>(work: (app: INestApplicationContext) => Promise<T>) => Promise<T>;

/**
 * The application without its web server, on the service's database, with pending migrations applied. A running embedded
 * server is used as it is; a stopped one is started and stopped again.
 */
export const withApp: WithApp = async (work) => {
  const app = await start();
  try {
    return await actingAs(COMMAND_LINE, () => work(app));
  } finally {
    await app.close();
  }
};

/** A failed start leaves no server running. */
async function start(): Promise<INestApplicationContext> {
  try {
    const options = { logger: new StderrLogger(), abortOnError: false };
    const app = await NestFactory.createApplicationContext(CliModule, options);
    return app.enableShutdownHooks();
  } catch (error) {
    await DatabaseServer.releaseAll();
    throw error;
  }
}

/** The part of the application that commands need: no web server, no calls. */
@Module({
  imports: [
    ConfigModule,
    DatabaseModule,
    AuditModule,
    AuthModule,
    WalletModule,
    KeysModule,
    UsageModule,
    OnboardingModule,
    OrganizationsModule,
    CatalogModule,
    ChannelsModule,
    // The catalog validates channels against the known protocols.
    ApiModule,
  ],
})
class CliModule {}

/** Nest's contexts that log a failed start, which is also thrown. */
const STARTING = new Set(['ExceptionHandler', 'TypeOrmModule']);

/** Warnings and errors on stderr: stdout belongs to results. */
export class StderrLogger extends ConsoleLogger {
  constructor() {
    super({ logLevels: ['warn', 'error', 'fatal'], prefix: 'switchboard' });
  }

  /** Skips errors of a failed start: they are thrown as well and printed as one line. */
  override error(message: unknown, ...details: unknown[]): void {
    if (!STARTING.has(String(details.at(-1)))) super.error(message, ...details);
  }

  protected override printMessages(messages: unknown[], context?: string, logLevel?: Level): void {
    super.printMessages(messages, context, logLevel, 'stderr');
  }
}

type Level = NonNullable<Parameters<ConsoleLogger['setLogLevels']>[0]>[number];
