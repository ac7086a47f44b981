// Several processes of one service on one machine: the crew of workers that a primary keeps, what it tells them, and how
// they ask it. Does not own what they ask each other, nor what serves in a worker.
export { isFirst, isWorker, onOrder, outliveThePrimary } from './orders.js';
export { NoPrimary, PrimaryLink } from './primary-link.js';
export { SERVES, WorkerCrew } from './worker-crew.js';
export { WorkerLinks } from './worker-links.js';
export { WorkersModule } from './workers.module.js';
