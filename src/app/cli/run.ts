import { CommanderError } from 'commander';
import { codeOf, reasonOf } from '../../platform/shared/index.js';
import { buildProgram } from './program.js';
import type { WithApp } from './with-app.js';

/** What the shell is told: done, refused, not understood. */
type ExitCode = 0 | 1 | 2;

/**
 * Runs one command. Results are on stdout; of a refusal there is one line on stderr.
 * @param commandLine what follows the program's name
 */
export async function run(commandLine: readonly string[], withApp: WithApp): Promise<ExitCode> {
  try {
    await buildProgram(withApp).parseAsync([...commandLine], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    // Whoever read our output has had enough of it (`… | head`).
    if (codeOf(error) === 'EPIPE') return 0;
    process.stderr.write(`error: ${reasonOf(error)}\n`);
    return 1;
  }
}
