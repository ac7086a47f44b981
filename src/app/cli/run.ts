import { CommanderError } from 'commander';
import { codeOf, reasonOf } from '../../platform/shared/index.js';
import { buildProgram } from './program.js';
import type { WithApp } from './with-app.js';

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
