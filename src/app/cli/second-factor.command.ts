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
    .description('what is asked for beside the password')
    .command('remove')
    .description('let an account sign in with its password alone; its owner is told by mail')
    .requiredOption('--email <address>', 'e-mail address of the account')
    .option('--json', 'print one JSON object')
    .action((options: RemoveOptions) => remove(options, withApp));
}

async function remove({ email, json }: RemoveOptions, withApp: WithApp): Promise<void> {
  await withApp(async (app) => {
    const { id } = await app.get(AccountService).get(email);
    await app.get(SecondFactorRemoval).remove(id);
  });
  if (json) printJson({ email, second_factor: 'removed' });
  else printLine(`the second factor of ${email} is removed`);
}
