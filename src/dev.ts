import 'reflect-metadata';
import { boot, bootOrEnd } from './boot.js';
import { Config } from './config/index.js';
import { describeSeed, seedDatabase } from './dev/index.js';

// As main.ts, on a database with seed data.
await bootOrEnd(async (told) => {
  const config = Config.load();
  const outcome = await seedDatabase();
  await boot(config, told);
  process.stdout.write(describeSeed(outcome));
});
