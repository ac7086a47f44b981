import type { Command } from 'commander';
import { AppError } from '../../platform/shared/index.js';
import { LedgerCheck } from '../../wallet/index.js';
import { printJson, printLine } from './output.js';
import type { WithApp } from './with-app.js';

/** `switchboard ledger …` */
export function ledgerCommands(program: Command, withApp: WithApp): void {
  const ledger = program.command('ledger').description('the double-entry ledger of the wallets');
  ledger
    .command('check')
    .description('recompute every balance, debt, hold and usage total; fails on any difference')
    .option('--json', 'print JSON')
    .action((options: { readonly json?: true }) => check(options, withApp));
}

async function check({ json }: { readonly json?: true }, withApp: WithApp): Promise<void> {
  const { exact, differences } = await withApp((app) => app.get(LedgerCheck).run());
  if (json) printJson({ exact, differences });
  else for (const line of exact ? ['ledger exact'] : differences) printLine(line);
  if (!exact)
    throw new AppError(
      'internal',
      `The ledger is inconsistent: ${differences.length} figures differ from the entries.`,
    );
}
