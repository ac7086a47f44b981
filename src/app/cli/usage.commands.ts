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
  const usage = program.command('usage').description('the record of calls');
  usage
    .command('export')
    .description('finished calls as CSV, oldest first')
    .requiredOption('--from <time>', 'ISO time of the first', timeArgument)
    .requiredOption('--to <time>', 'ISO time that all are before', timeArgument)
    .option('--email <address>', 'e-mail address of the account; all accounts when left out')
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
