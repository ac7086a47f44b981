import 'reflect-metadata';
import { Config } from '../platform/config/index.js';
import { boot } from './boot.js';
import { describeSeed, seedDatabase } from './seed/index.js';
import { startOrExit } from './shutdown.js';

// As main.ts, on a database with seed data.
await startOrExit(async (stopRequest) => {
  const config = Config.load();
  const outcome = await seedDatabase();
  await boot(config, stopRequest);
  process.stdout.write(describeSeed(outcome));
});
