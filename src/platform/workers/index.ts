// Worker processes on one machine: the primary starts and restarts them, and messages between them.
export { isFirst, isWorker, onOrder, surviveLostPrimary } from './messages.js';
export { PrimaryUnavailable, PrimaryLink, WorkersModule } from './primary-link.js';
export { SERVES, WorkerPool, WorkerLinks } from './worker-pool.js';
