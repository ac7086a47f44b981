import 'reflect-metadata';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions, openDataSource } from '../../src/platform/database/data-source.js';
import { startEmbedded } from '../../src/platform/database/embedded/index.js';
import { SERVER_VARIABLE, TEMPLATE, withDatabase } from './database.js';
import { removeAbandonedDataDirs, removeDataDir, temporaryDataDir } from './temporary-data-dir.js';

const silent = (): void => undefined;

/**
 * Starts an embedded server of its own in a temporary folder, with a database that is migrated once and copied for each
 * test that asks. Workers find it by an environment variable.
 */
export async function startTestServer(): Promise<{ stop(): Promise<void> }> {
  removeAbandonedDataDirs();
  const dataDir = temporaryDataDir();
  const server = await startEmbedded({ dataDir, log: silent });
  const endWithUs = (): void => {
    removeDataDir(dataDir);
    process.exit(130);
  };
  process.once('SIGINT', endWithUs).once('SIGTERM', endWithUs);
  const stop = async (): Promise<void> => {
    await server.release();
    // Tests that left connections open count as users of the server.
    removeDataDir(dataDir);
  };
  process.env[SERVER_VARIABLE] = server.url;
  try {
    await createTemplate(server.url);
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // No data needs to survive a crash of the machine. `synchronous_commit` stays as the pools set it, which is tested.
  await client.query('ALTER SYSTEM SET fsync = off');
  await client.query('ALTER SYSTEM SET full_page_writes = off');
  await client.query('SELECT pg_reload_conf()');
  await client.query(`CREATE DATABASE ${TEMPLATE}`);
  await client.end();
  const template = withDatabase(url, TEMPLATE);
  const dataSource = await openDataSource(new DataSource(dataSourceOptions(template)), silent);
  await dataSource.destroy();
}
