import { NestFactory } from '@nestjs/core';
import { SeedModule } from './seed.module.js';
import { Seed, type SeedOutcome } from './seed.service.js';

/** Seeds the database that the environment names, with services of its own, and closes them. */
export async function seedDatabase(): Promise<SeedOutcome> {
  // Thousands of lines about calls that nobody made would bury the few that matter.
  const app = await NestFactory.createApplicationContext(SeedModule, {
    logger: ['warn', 'error', 'fatal'],
    abortOnError: false,
  });
  app.enableShutdownHooks();
  try {
    return await app.get(Seed).run();
  } finally {
    await app.close();
  }
}
