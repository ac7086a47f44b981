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

/**
 * `unit`: beside the code, no I/O. `system`: test/, on a PostgreSQL of its own that is started once for the whole run.
 */
export default {
  maxWorkers: 2,
  testTimeout: 30_000,
  projects: [
    {
      ...shared,
      displayName: 'unit',
      roots: ['<rootDir>/src', '<rootDir>/migrations', '<rootDir>/test'],
      testMatch: ['<rootDir>/{src,migrations}/**/*.spec.ts', '<rootDir>/test/architecture.spec.ts'],
    },
    {
      ...shared,
      displayName: 'system',
      roots: ['<rootDir>/test'],
      testMatch: ['<rootDir>/test/**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/architecture\\.spec\\.ts$'],
      globalSetup: '<rootDir>/test/support/start-database.mjs',
      globalTeardown: '<rootDir>/test/support/stop-database.mjs',
    },
  ],
};
