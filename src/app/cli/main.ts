import 'reflect-metadata';
import { run } from './program.js';
import { withApp } from './with-app.js';

/** The command line as a process: its exit code is the command's. */
export async function main(commandLine: readonly string[]): Promise<void> {
  // A reader that exits early (`… | head`) is not an error; any other error of stdout is.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  process.exitCode = await run(commandLine, withApp);
}
