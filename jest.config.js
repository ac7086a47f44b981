/**
 * Node itself loads the tests and the code, each module once per worker: see the files named here. Not isolated from each
 * other by Jest, test files must close what they open and share no state beyond what jest-environment.mjs puts back.
 */
const shared = {
  runtime: '<rootDir>/test/support/jest-runtime.mjs',
  testEnvironment: '<rootDir>/test/support/jest-environment.mjs',
  setupFiles: ['<rootDir>/test/setup.ts'],
  moduleFileExtensions: ['ts', 'js', 'json', 'node'],
  transform: {},
};

/** What runs on a PostgreSQL of its own, which is started once for the whole run. */
const onDatabase = {
  ...shared,
  roots: ['<rootDir>/test'],
  globalSetup: '<rootDir>/test/support/start-database.mjs',
  globalTeardown: '<rootDir>/test/support/stop-database.mjs',
};

/**
 * Specs in test/ that need neither network nor database: the imports, what documents name, the variables, the flags, the guide, the scripts,
 * the protocols' adapters on plain values, and which tests keep which promise.
 */
const pure =
  '(architecture|documents|environment|flags|guide|language|members|scripts|security-table|conformance/protocols|conformance/kit|reliability/promises)';
const conformance = '<rootDir>/test/conformance/**/*.conformance.spec.ts';

/** Kills, chaos, fuzzing, benchmarks, and properties over thousands of cases. Variables set how long most of them run. */
const long =
  '(bench/(bench|full-logs)|database/(money-properties|usage-rollups)|e2e/(abuse-kills|exact-money|fuzzed-requests|kills|release|two-processes))';

/**
 * `unit`: beside the code, no I/O. `system`: test/, over HTTP and SQL. `browser`: test/browser, in a real Chromium, which
 * must be on the machine; `services`: test/services, beside a real Redis and nginx, which must be there too; `long`: what takes minutes.
 * These three run when they are asked for.
 */
export default {
  // More than the cores of a small machine: tests mostly wait.
  maxWorkers: 4,
  // Also keeps every test in a worker: Jest's own process holds what belongs to the whole run.
  workerIdleMemoryLimit: '2GB',
  testSequencer: '<rootDir>/test/support/test-order.mjs',
  reporters: ['default', '<rootDir>/test/support/slowest-files.mjs'],
  testTimeout: 30_000,
  projects: [
    {
      ...shared,
      displayName: 'unit',
      roots: ['<rootDir>/src', '<rootDir>/migrations', '<rootDir>/test'],
      testMatch: ['<rootDir>/{src,migrations}/**/*.spec.ts', `<rootDir>/test/${pure}.spec.ts`, conformance],
    },
    {
      ...onDatabase,
      displayName: 'system',
      testMatch: ['<rootDir>/test/**/*.spec.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        '<rootDir>/test/(browser|services)/',
        `<rootDir>/test/${pure}\\.spec\\.ts$`,
        `<rootDir>/test/${long}\\.spec\\.ts$`,
        '\\.conformance\\.spec\\.ts$',
      ],
    },
    {
      ...onDatabase,
      displayName: 'long',
      testMatch: [`<rootDir>/test/${long}.spec.ts`],
    },
    {
      ...onDatabase,
      displayName: 'browser',
      testMatch: ['<rootDir>/test/browser/**/*.spec.ts'],
    },
    {
      ...onDatabase,
      displayName: 'services',
      testMatch: ['<rootDir>/test/services/**/*.spec.ts'],
    },
  ],
};
