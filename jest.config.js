/** What both projects need: TypeScript as ES modules with decorators, as tsc would compile it. */
const shared = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'json', 'node'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  setupFiles: ['<rootDir>/test/setup.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        sourceMaps: 'inline',
        module: { type: 'es6' },
        jsc: {
          target: 'es2023',
          keepClassNames: true,
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
      },
    ],
  },
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
 * the dialects' adapters on plain values, and which tests keep which promise.
 */
const pure =
  '(architecture|documents|environment|flags|guide|members|new-protocol|scripts|security-table|conformance/dialects|conformance/kit|reliability/promises)';
const conformance = '<rootDir>/test/conformance/**/*.conformance.spec.ts';

/**
 * `unit`: beside the code, no I/O. `system`: test/, over HTTP and SQL. `browser`: test/browser, in a real Chromium, which
 * must be on the machine; `services`: test/services, beside a real Redis and nginx, which must be there too. These two run
 * when they are asked for.
 */
export default {
  maxWorkers: 2,
  // What a file has loaded stays in its process: after a hundred files collecting garbage stops it for seconds.
  workerIdleMemoryLimit: '2GB',
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
        '\\.conformance\\.spec\\.ts$',
      ],
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
