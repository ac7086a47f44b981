// Jest's global setup of the system tests: one PostgreSQL for the whole run, stopped by stop-database.mjs.
import './typescript-hooks.mjs';

export default async function startDatabase() {
  const { startTestServer } = await import('./test-server.ts');
  globalThis.switchboardTestServer = await startTestServer();
}
