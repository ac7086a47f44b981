import type { Command } from 'commander';
import { AccountService } from '../../auth/index.js';
import { renderLimits } from '../../platform/limits/index.js';
import { type LimitOptions, limitsChange, limitsText, withLimits } from './limit-options.js';
import { printJson, printLine } from './output.js';
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
