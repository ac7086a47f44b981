import { Command, CommanderError } from 'commander';
import 'reflect-metadata';
import { codeOf, reasonOf } from '../../platform/shared/index.js';
import { accountCommands } from './account.commands.js';
import { backupCommands } from './backup.commands.js';
import { catalogCommands } from './catalog.commands.js';
import { invitationCommands } from './invitation.commands.js';
import { keyCommands } from './key.commands.js';
import { organizationCommands } from './organization.commands.js';
import { signInCommands } from './sign-in.commands.js';
import { usageCommands } from './usage.commands.js';
import { ledgerCommands, paymentCommands, redemptionCommands } from './wallet.commands.js';
import { type WithApp, withApp } from './with-app.js';

/** All commands. Parsing throws a CommanderError instead of ending the process. */
function buildProgram(appRunner: WithApp): Command {
  const program = new Command('switchboard')
    .description('Manages this service from the command line. The service may be running or stopped.')
    .exitOverride()
    .showHelpAfterError('(see --help)');
  accountCommands(program, appRunner);
  invitationCommands(program, appRunner);
  organizationCommands(program, appRunner);
  signInCommands(program, appRunner);
  keyCommands(program, appRunner);
  catalogCommands(program, appRunner);
  redemptionCommands(program, appRunner);
  paymentCommands(program, appRunner);
  ledgerCommands(program, appRunner);
  usageCommands(program, appRunner);
  backupCommands(program);
  return program;
}

/** Success, failure, usage error. */
type ExitCode = 0 | 1 | 2;

/**
 * Runs one command. Results go to stdout, an error to stderr as one line.
 * @param commandLine the arguments after the program's name
 */
export async function run(commandLine: readonly string[], appRunner: WithApp): Promise<ExitCode> {
  try {
    await buildProgram(appRunner).parseAsync([...commandLine], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    // The reader of stdout exited early (`… | head`).
    if (codeOf(error) === 'EPIPE') return 0;
    process.stderr.write(`error: ${reasonOf(error)}\n`);
    return 1;
  }
}

/** The command line as a process: its exit code is the command's. */
export async function main(commandLine: readonly string[]): Promise<void> {
  // A reader that exits early (`… | head`) is not an error; any other error of stdout is.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  process.exitCode = await run(commandLine, withApp);
}
