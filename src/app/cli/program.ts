import { Command, CommanderError } from 'commander';
import { codeOf, reasonOf } from '../../platform/shared/index.js';
import { accountCommands } from './account.commands.js';
import { backupCommands } from './backup.commands.js';
import { catalogCommands } from './catalog.commands.js';
import { invitationCommands } from './invitation.commands.js';
import { keyCommands } from './key.commands.js';
import { usageCommands } from './usage.commands.js';
import { ledgerCommands, paymentCommands, redemptionCommands } from './wallet.commands.js';
import type { WithApp } from './with-app.js';

/** All commands. Parsing throws a CommanderError instead of ending the process. */
function buildProgram(withApp: WithApp): Command {
  const program = new Command('switchboard')
    .description('Manages this service from the command line. The service may be running or stopped.')
    .exitOverride()
    .showHelpAfterError('(see --help)');
  accountCommands(program, withApp);
  invitationCommands(program, withApp);
  keyCommands(program, withApp);
  catalogCommands(program, withApp);
  redemptionCommands(program, withApp);
  paymentCommands(program, withApp);
  ledgerCommands(program, withApp);
  usageCommands(program, withApp);
  backupCommands(program);
  return program;
}

/** Success, failure, usage error. */
type ExitCode = 0 | 1 | 2;

/**
 * Runs one command. Results go to stdout, an error to stderr as one line.
 * @param commandLine the arguments after the program's name
 */
export async function run(commandLine: readonly string[], withApp: WithApp): Promise<ExitCode> {
  try {
    await buildProgram(withApp).parseAsync([...commandLine], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    // The reader of stdout exited early (`… | head`).
    if (codeOf(error) === 'EPIPE') return 0;
    process.stderr.write(`error: ${reasonOf(error)}\n`);
    return 1;
  }
}
