import type { ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { Config, ConfigModule } from '../../src/config/index.js';
import { DatabaseModule } from '../../src/database/index.js';
import type { TestDatabase } from './database.js';

type TestParts = Pick<ModuleMetadata, 'imports' | 'controllers' | 'providers'>;

/** Some modules of the application on a database of the test's own, compiled but not started. */
export function compileOn(database: TestDatabase, { imports = [], ...parts }: TestParts): Promise<TestingModule> {
  const config = Config.fromEnvironment({
    DATABASE_URL: database.url,
    SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
  });
  return Test.createTestingModule({ imports: [ConfigModule, DatabaseModule, ...imports], ...parts })
    .overrideProvider(Config)
    .useValue(config)
    .compile();
}

/** The same, started, as one process of the application would be. Close it before the database is dropped. */
export async function startOn(database: TestDatabase, imports: TestParts['imports']): Promise<TestingModule> {
  const modules = await compileOn(database, { imports: imports ?? [] });
  return modules.init();
}
