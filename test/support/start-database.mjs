// Jest's global setup of the system tests: one PostgreSQL for the whole run, stopped by stop-database.mjs. And the
// program, built before any test waits for it to start.
import './typescript-hooks.mjs';
import { ensureBuilt } from '../../scripts/build.mjs';

export default async function startDatabase() {
  if (!(await ensureBuilt())) throw new Error('The program could not be built.');
  const { startTestServer } = await import('./test-server.ts');
  globalThis.switchboardTestServer = await startTestServer();
}
