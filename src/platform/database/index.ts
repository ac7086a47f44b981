// PostgreSQL: the embedded server, TypeORM's data source, migrations and SQL files, connection pools, group commit, and
// notifications between processes; closed last. Tables belong to the modules that use them.
export { ADVISORY_LOCKS } from './advisory-locks.js';
export { Batcher, soleTransaction } from './batcher.js';
export { compositeArray, nanosColumn, storableJson, textArray } from './values.js';
export { DatabaseHealth, DatabaseModule } from './database.module.js';
export { DatabaseServer } from './database-server.js';
export { fillEmptyDatabase } from './empty-database.js';
export { startEmbedded, type EmbeddedServer } from './embedded/index.js';
export { isConnectionLost, isDatabaseOutage, isOutage } from './database.errors.js';
export { ReconnectingCopy } from './reconnecting-copy.js';
export type { ReconnectingSession, SessionClient } from './reconnecting-session.js';
export { DatabasePools, longSession } from './pools.js';
export { migrate, MIGRATION_NAMES } from './data-source.js';
export { idIn, Notifications, TOPICS, UNHEARD_CACHE_MS } from './notifications.js';
export { processIdentity } from './process-identity.js';
