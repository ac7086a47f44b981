import type { ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { AuditModule } from '../../src/platform/audit/index.js';
import { Config, ConfigModule } from '../../src/platform/config/index.js';
import { DatabaseModule } from '../../src/platform/database/index.js';
import { AssetStore } from '../../src/console/web/rendering/asset-store.js';
import { ViewEngine } from '../../src/console/web/rendering/view-engine.js';
import type { TestDatabase } from './database.js';

type TestParts = Pick<ModuleMetadata, 'imports' | 'controllers' | 'providers'>;

/** What a test puts in the place of a provider: times, usually. */
type Override = (builder: TestingModuleBuilder) => TestingModuleBuilder;

const nothing: Override = (builder) => builder;

let madeAssets: AssetStore | undefined;
let madeViews: ViewEngine | undefined;
/** Templates and assets never change, and take a quarter of a second to make: once per process. */
const assets = (): AssetStore => (madeAssets ??= new AssetStore());
const views = (): ViewEngine => (madeViews ??= new ViewEngine(assets()));

/** Every module that tests build: compiled with this configuration, not started. */
export function testingModule(config: Config, parts: TestParts, override = nothing): Promise<TestingModule> {
  return override(Test.createTestingModule(parts))
    .overrideProvider(Config)
    .useValue(config)
    .overrideProvider(AssetStore)
    .useFactory({ factory: assets })
    .overrideProvider(ViewEngine)
    .useFactory({ factory: views })
    .compile();
}

/** Some modules of the application on a database of the test's own, compiled but not started. */
export function compileOn(
  database: TestDatabase,
  { imports = [], ...parts }: TestParts,
  override = nothing,
): Promise<TestingModule> {
  const config = Config.fromEnvironment({
    DATABASE_URL: database.url,
    SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
  });
  return testingModule(
    config,
    { imports: [ConfigModule, DatabaseModule, AuditModule, ...imports], ...parts },
    override,
  );
}

/** The same, started, as one process of the application would be. Close it before the database is dropped. */
export async function startOn(
  database: TestDatabase,
  imports: TestParts['imports'],
  override?: Override,
): Promise<TestingModule> {
  const modules = await compileOn(database, { imports: imports ?? [] }, override);
  return modules.init();
}
