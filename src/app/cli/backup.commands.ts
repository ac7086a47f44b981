import { Logger } from '@nestjs/common';
import type { Command } from 'commander';
import { backUp, BackupFile, LEFT_OUT, markOf, noteBackup, restore } from '../../platform/backup/index.js';
import { Config } from '../../platform/config/index.js';
import { DatabaseServer } from '../../platform/database/index.js';
import { AppError } from '../../platform/shared/index.js';
import { printLine } from './output.js';
import { StderrLogger } from './with-app.js';

const KILOBYTE = 1000;

/** `switchboard migrate`, `backup` and `restore`: the database as a whole. */
export function backupCommands(program: Command): void {
  program.command('migrate').description('apply pending migrations, as a start would').action(migrate);
  program
    .command('backup')
    .description('write a consistent snapshot of the database to a new file; the service can keep running')
    .argument('<file>', 'file to create')
    .action(writeBackup);
  program
    .command('restore')
    .description('restore a backup into an empty DATA_DIR or DATABASE_URL')
    .argument('<file>', 'backup file to restore')
    .action(readBackup);
}

async function migrate(): Promise<void> {
  await withServer(({ server }) => server.migrate());
  printLine('migrations applied');
}

async function writeBackup(file: string): Promise<void> {
  const { tables, rows, bytes } = await withServer(async ({ config, server, signal }) => {
    const now = new Date();
    const summary = await backUp({ url: server.url, file, secretKey: config.secretKey, now, signal });
    await noteBackup(config.dataDir, now);
    return summary;
  });
  printLine(
    `backup of ${tables} tables, ${summaryText(rows)} rows, ${summaryText(Math.ceil(bytes / KILOBYTE))} kB in ${file}`,
  );
  note(
    'The backup does not contain SECRET_KEY (DATA_DIR/secret.key, or the variable); store it separately. Without it, channel credentials and the mail server password cannot be decrypted, emailed codes no longer work, and clients lose sealed reasoning.',
    `Not included: runtime state (${LEFT_OUT.join(', ')}, and in-memory counters). After a restore, users must sign in again, and open calls are closed without a charge.`,
  );
}

/** Checks the file first: an unusable one leaves an empty DATA_DIR untouched. */
async function readBackup(file: string): Promise<void> {
  const backup = await BackupFile.open(file);
  const { header, trailer } = backup;
  const sameKey = await withServer(async ({ config, server, signal }) => {
    await restore(backup, server, signal);
    return isKeyOf(header.secret_key, config);
  });
  const rows = Object.values(trailer.rows).reduce((sum, count) => sum + count, 0);
  printLine(
    `restored ${header.tables.length} tables, ${summaryText(rows)} rows, as they were at ${header.made_at} under version ${header.version}`,
  );
  if (sameKey) note('SECRET_KEY matches the backup.');
  else
    note(
      'SECRET_KEY differs from the one the backup was made with. Until it is restored, authenticator codes are rejected (recovery codes work), and channel credentials and the mail server password cannot be decrypted. Put the original key into DATA_DIR/secret.key, or set the variable SECRET_KEY, before the service starts. If it is lost, enter the secrets again, and turn off two-factor authentication with “switchboard account second-factor remove”.',
    );
}

const isKeyOf = (mark: string, { secretKey }: Config): boolean => markOf(secretKey) === mark;

/** Explanations go to stderr, apart from the result. */
function note(...lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`${line}\n`);
}

const summaryText = (count: number): string => count.toLocaleString('en');

/** For commands that work on the database as a whole. */
interface WholeDatabase {
  readonly config: Config;
  readonly server: DatabaseServer;
  /** Aborted when the command is asked to stop. */
  readonly signal: AbortSignal;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs work on the service's database without the application, which would migrate it. A running embedded server is used
 * as it is; a stopped one is started and stopped again.
 */
async function withServer<T>(work: (database: WholeDatabase) => Promise<T>): Promise<T> {
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
