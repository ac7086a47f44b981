import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { actingAs, COMMAND_LINE } from '../../platform/audit/index.js';
import { DatabaseServer } from '../../platform/database/index.js';
import { CliModule } from './cli.module.js';
import { StderrLogger } from './stderr.logger.js';

/** Does a piece of work with the services of the application, which starts before and is closed after it. */
export type WithApp = <T>(work: (app: INestApplicationContext) => Promise<T>) => Promise<T>;

/**
 * The application without its web server, on the database that the service uses, migrated as the service would.
 * An embedded server that runs is adopted; one that does not is started, used and stopped.
 */
export const withApp: WithApp = async (work) => {
  const app = await start();
  try {
    return await actingAs(COMMAND_LINE, () => work(app));
  } finally {
    await app.close();
  }
};

/** A start that fails half way leaves no server behind. */
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
