// Worker processes on one machine: the primary starts and restarts them, and messages between them.
export { isFirst, isWorker, onOrder, outliveThePrimary } from './messages.js';
export { NoPrimary, PrimaryLink, WorkersModule } from './primary-link.js';
export { SERVES, WorkerCrew, WorkerLinks } from './worker-crew.js';
