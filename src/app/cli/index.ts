// The operator's command line: its commands, their exit codes, what they print. Every command is a few lines over a
// service of another module; no rule of the product is decided here.
export { main } from './main.js';
export { run } from './run.js';
export { withApp } from './with-app.js';
