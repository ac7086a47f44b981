// Several processes of one service on one machine: how a worker asks the primary that started it, and how the primary
// answers. Does not own what they ask each other.
export { NoPrimary, PrimaryLink } from './primary-link.js';
export { WorkerLinks } from './worker-links.js';
export { WorkersModule } from './workers.module.js';
