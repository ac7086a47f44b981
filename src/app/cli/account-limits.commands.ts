import type { Command } from 'commander';
import { AccountService } from '../../auth/index.js';
import { renderLimits } from '../../platform/limits/index.js';
import { formatUsd, type Nanos } from '../../platform/shared/index.js';
import { AllowanceService, WalletService } from '../../wallet/index.js';
import { amountArgument } from './arguments.js';
import { type LimitOptions, limitsChange, limitsText, withLimits } from './limit-options.js';
import { printJson, printLine } from './output.js';
import { walletJson, walletText } from './wallet.commands.js';
import type { WithApp } from './with-app.js';

interface AccountLimitOptions extends LimitOptions {
  readonly email: string;
  readonly json?: true;
}

/** `switchboard account limits …` */
export function accountLimitsCommand(account: Command, withApp: WithApp): void {
  const command = account
    .command('limits')
    .description('set the rate limits of an account, shared by all its keys')
    .requiredOption('--email <address>', 'email address of the account');
  withLimits(command)
    .option('--json', 'print JSON')
    .action((options: AccountLimitOptions) => {
      if (limitsChange(options) === undefined)
        command.error('error: specify at least one of --rpm, --tpm, --concurrency and --clear');
      return setLimits(options, withApp);
    });
}

async function setLimits({ email, json, ...options }: AccountLimitOptions, withApp: WithApp): Promise<void> {
  const limits = await withApp((app) => app.get(AccountService).setLimits(email, limitsChange(options) ?? {}));
  if (json) printJson({ email, limits: renderLimits(limits) });
  else printLine(`limits: ${limitsText(renderLimits(limits))}`);
}

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
