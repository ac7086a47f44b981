// Jest's `testEnvironment`: the worker's own realm. Nothing separates one file from the next in it but what is put back
// here after each: mocks, timers, globals, environment variables, the working folder, the exit code, signal handlers.
import { reset } from './jest-globals.mjs';

/** Handlers of these say what becomes of the process; other listeners belong to modules, which stay loaded. */
const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'message', 'disconnect'];

export default class OwnRealm {
  global = globalThis;

  constructor() {
    this.undo = [environment(), ...EVENTS.map(listeners), processState()];
  }

  async setup() {}

  async teardown() {
    reset();
    restoreGlobals();
    for (const restore of this.undo) restore();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}

/** Those that Node has; others belong to modules, which stay loaded. Lazy ones are not asked for their value. */
const GLOBALS = Object.entries(Object.getOwnPropertyDescriptors(globalThis)).filter(([, own]) => own.configurable);

function restoreGlobals() {
  for (const [name, descriptor] of GLOBALS)
    if (Object.getOwnPropertyDescriptor(globalThis, name)?.value !== descriptor.value)
      Object.defineProperty(globalThis, name, descriptor);
}

function environment() {
  const { env } = process;
  const before = { ...env };
  return () => {
    process.env = env;
    for (const name of Object.keys(env)) if (!(name in before)) delete env[name];
    for (const [name, value] of Object.entries(before)) if (env[name] !== value) env[name] = value;
  };
}

function listeners(event) {
  const before = new Set(process.rawListeners(event));
  return () => {
    for (const listener of process.rawListeners(event)) if (!before.has(listener)) process.off(event, listener);
  };
}

/** jest-runner puts an `exit` of its own in place for each file. */
function processState() {
  const { exitCode } = process;
  const exit = Object.getOwnPropertyDescriptor(process, 'exit');
  const folder = process.cwd();
  return () => {
    Object.defineProperty(process, 'exit', exit);
    process.exitCode = exitCode;
    if (process.cwd() !== folder) process.chdir(folder);
  };
}
