// Jest's `runtime`: Node's own module loader in place of a vm context for each file. A worker loads every module once,
// and evaluates only the spec and the setup files anew.
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { sourceMaps } from './typescript-hooks.mjs';

const require = createRequire(import.meta.url);
const GLOBALS = new URL('./jest-globals.mjs', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => next(specifier === '@jest/globals' ? GLOBALS : specifier, context),
});

/** What jest-circus keeps on the globals: the tests of the last file, its timeout, who hears of them. */
const CIRCUS = ['JEST_STATE_SYMBOL', 'EVENT_HANDLERS', 'RETRY_TIMES_SETTER', 'TEST_TIMEOUT_SYMBOL'];

let filesRun = 0;

/** The part of `jest-runtime` that jest-runner and jest-circus call. */
export default class NativeRuntime {
  constructor() {
    filesRun += 1;
    this.query = `?run=${filesRun}`;
  }

  /** jest-circus, which keeps its state in its modules: a fresh copy for each file. */
  requireInternalModule(path) {
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (CIRCUS.includes(symbol.description)) delete globalThis[symbol];
    delete require.cache[path];
    return require(path);
  }

  /** What Jest calls this with are setup files and the spec itself. */
  unstable_importModule(path) {
    return import(pathToFileURL(path).href + this.query);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  requireModule(path) {
    throw new Error(`${path} would have to be loaded as CommonJS, which these tests do not need.`);
  }

  getSourceMaps() {
    return sourceMaps;
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  setGlobalsForRuntime() {}

  enterTestCode() {}

  leaveTestCode() {}

  teardown() {}
}
