// The command line: commands, exit codes and output. Each command is a few lines over a service.
export { main, run } from './program.js';
export { withApp } from './with-app.js';
