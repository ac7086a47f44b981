// The PostgreSQL server that runs when DATABASE_URL is unset: programs, data directory, password, port; starting,
// adopting, restarting and stopping it.
export { startEmbedded, type EmbeddedServer } from './embedded-server.js';
