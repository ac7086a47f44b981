// Seed data for `npm run dev`: accounts, API keys, a small catalog and calls of the last 30 days.
export { describeSeed, Seed, seedDatabase, SeedModule } from './seed.service.js';
