import type { Command } from 'commander';
import { AccountService, SecondFactorRemoval } from '../../auth/index.js';
import { printJson, printLine } from './output.js';
import type { WithApp } from './with-app.js';

interface RemoveOptions {
  readonly email: string;
  readonly json?: true;
}

/** `switchboard account second-factor …` */
export function secondFactorCommands(account: Command, withApp: WithApp): void {
  account
    .command('second-factor')
    .description('two-factor authentication')
    .command('remove')
    .description('turn off two-factor authentication for an account; the user is notified by email')
    .requiredOption('--email <address>', 'email address of the account')
    .option('--json', 'print JSON')
    .action((options: RemoveOptions) => remove(options, withApp));
}

async function remove({ email, json }: RemoveOptions, withApp: WithApp): Promise<void> {
  await withApp(async (app) => {
    const { id } = await app.get(AccountService).get(email);
    await app.get(SecondFactorRemoval).remove(id);
  });
  if (json) printJson({ email, second_factor: 'removed' });
  else printLine(`two-factor authentication of ${email} is turned off`);
}
