import type { Command } from 'commander';
import { PasswordPolicy } from '../../auth/index.js';
import { durationArgument } from './arguments.js';
import { printJson, printLine } from './output.js';
import type { WithApp } from './with-app.js';

interface LocalOptions {
  /** Milliseconds. */
  readonly for?: number;
  readonly end?: true;
  readonly json?: true;
}

/** `switchboard sign-in …` */
export function signInCommands(program: Command, withApp: WithApp): void {
  const signIn = program.command('sign-in').description('sign-in to the console');
  signIn
    .command('local')
    .description('allow sign-in with a password for a while, when it is turned off and no provider works')
    .option('--for <duration>', 'such as 30m or 1h, max 24h', durationArgument)
    .option('--end', 'end it early')
    .option('--json', 'print JSON')
    .action((options: LocalOptions, command: Command) => {
      if ((options.for === undefined) === (options.end === undefined))
        command.error("error: specify either '--for <duration>' or '--end'");
      return allow(options, withApp);
    });
}

async function allow({ for: ms, json }: LocalOptions, withApp: WithApp): Promise<void> {
  if (ms === undefined) {
    const isEnded = await withApp((app) => app.get(PasswordPolicy).endAllowance());
    if (json) return printJson({ ended: isEnded });
    return printLine(
      isEnded ? 'Password sign-in follows the setting again.' : 'Password sign-in was not allowed by a command.',
    );
  }
  const until = await withApp((app) => app.get(PasswordPolicy).allowFor(ms));
  if (json) printJson({ allowed_until: until.toISOString() });
  else printLine(`Password sign-in is allowed until ${until.toISOString()}.`);
}
