// PostgreSQL: the embedded server, TypeORM's data source, migrations and SQL files, connection pools, group commit, and
// notifications between processes; closed last. Tables belong to the modules that use them.
export { ADVISORY_LOCKS } from './advisory-locks.js';
export { Batcher, soleTransaction } from './batcher.js';
export { compositeArray, storableJson } from './composite.js';
export { DatabaseHealth } from './database-health.js';
export { DatabaseServer } from './database-server.js';
export { DatabaseModule } from './database.module.js';
export { fillEmptyDatabase } from './empty-database.js';
export { startEmbedded, type EmbeddedServer } from './embedded/index.js';
export { isConnectionLost, isDatabaseOutage, isOutage } from './outage.js';
export { ReconnectingCopy } from './reconnecting-copy.js';
export type { KeptSession, SessionClient } from './kept-session.js';
export { longSession } from './long-session.js';
export { migrate, MIGRATION_NAMES } from './migrate.js';
export { nanosColumn } from './nanos.column.js';
export { Notifications, UNHEARD_CACHE_MS } from './notifications.js';
export { DatabasePools } from './pools.js';
export { processIdentity } from './process-identity.js';
export { idIn, TOPICS } from './topics.js';
