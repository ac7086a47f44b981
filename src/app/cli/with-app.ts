import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { actingAs, COMMAND_LINE } from '../../platform/audit/index.js';
import { DatabaseServer } from '../../platform/database/index.js';
import { CliModule } from './cli.module.js';
import { StderrLogger } from './stderr.logger.js';

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
