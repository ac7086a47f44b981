// Seed data for `npm run dev`: accounts, API keys, a small catalog and calls of the last 30 days.
export { describeSeed } from './seed.report.js';
export { seedDatabase } from './seeding.js';
export { SeedModule } from './seed.module.js';
export { Seed } from './seed.service.js';
