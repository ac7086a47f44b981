// Owns the PostgreSQL server that runs when DATABASE_URL is unset: its programs, place, password, port, and when it is
// started, adopted, revived and stopped. Does not own what is inside it, nor the connections that others open to it.
export { startEmbedded, type EmbeddedServer } from './embedded-server.js';
