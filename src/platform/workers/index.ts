// Worker processes on one machine: the primary starts and restarts them, and messages between them.
export { isFirst, isWorker, onOrder, outliveThePrimary } from './orders.js';
export { NoPrimary, PrimaryLink } from './primary-link.js';
export { SERVES, WorkerCrew } from './worker-crew.js';
export { WorkerLinks } from './worker-links.js';
export { WorkersModule } from './workers.module.js';
