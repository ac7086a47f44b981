// What `npm run dev` puts into an empty database, so that there is something to see: accounts, keys, a small catalog and
// a month of calls, made through the services that make real ones. Does not serve: the entry src/app/dev.ts does, afterwards.
export { describeSeed } from './seed.report.js';
export { seedDatabase } from './seeding.js';
export { SeedModule } from './seed.module.js';
export { Seed } from './seed.service.js';
