import type { Command } from 'commander';
import { AccountService } from '../../auth/index.js';
import { CallRetention, UsageExport } from '../../usage/index.js';
import { timeArgument } from './arguments.js';
import { printStream } from './output.js';
import type { WithApp } from './with-app.js';

interface ExportOptions {
  readonly from: Date;
  readonly to: Date;
  readonly email?: string;
}

/** `switchboard usage …` */
export function usageCommands(program: Command, withApp: WithApp): void {
  const usage = program.command('usage').description('usage logs');
  usage
    .command('export')
    .description('export finished calls as CSV, oldest first')
    .requiredOption('--from <time>', 'start, ISO time', timeArgument)
    .requiredOption('--to <time>', 'end (exclusive), ISO time', timeArgument)
    .option('--email <address>', 'email address of the account; all accounts by default')
    .action((options: ExportOptions) => exportCalls(options, withApp));
}

async function exportCalls({ from, to, email }: ExportOptions, withApp: WithApp): Promise<void> {
  await withApp(async (app) => {
    const accountId = email === undefined ? undefined : (await app.get(AccountService).get(email)).id;
    const missing = await app.get(CallRetention).missingFrom(from);
    if (missing !== undefined) process.stderr.write(`${missing}\n`);
    await printStream(app.get(UsageExport).csv({ from, to, accountId }));
  });
}
