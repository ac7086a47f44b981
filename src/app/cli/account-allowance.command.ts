import type { Command } from 'commander';
import { AccountService } from '../../auth/index.js';
import { formatUsd, type Nanos } from '../../platform/shared/index.js';
import { AllowanceService, WalletService } from '../../wallet/index.js';
import { amountArgument } from './arguments.js';
import { printJson, printLine } from './output.js';
import { walletJson, walletText } from './wallet.output.js';
import type { WithApp } from './with-app.js';

interface AllowanceOptions {
  readonly email: string;
  readonly amount: Nanos;
  readonly json?: true;
}

/** `switchboard account allowance …` */
export function accountAllowanceCommand(account: Command, withApp: WithApp): void {
  account
    .command('allowance')
    .description('set the monthly allowance of an account (UTC); takes effect immediately, the unspent part expires')
    .requiredOption('--email <address>', 'email address of the account')
    .requiredOption(
      '--amount <usd>',
      'US dollars; a different amount takes effect next month, 0 ends the allowance',
      amountArgument,
    )
    .option('--json', 'print JSON')
    .action((options: AllowanceOptions) => setAllowance(options, withApp));
}

async function setAllowance({ email, amount, json }: AllowanceOptions, withApp: WithApp): Promise<void> {
  const wallet = await withApp(async (app) => {
    const { id } = await app.get(AccountService).get(email);
    await app.get(AllowanceService).set(id, amount);
    return app.get(WalletService).balanceOf(id);
  });
  if (json) return printJson({ email, monthly_allowance_usd: formatUsd(amount), ...walletJson(wallet) });
  printLine(`monthly allowance: ${amount === 0n ? 'none' : `$${formatUsd(amount)}`}`);
  printLine(walletText(wallet));
}
