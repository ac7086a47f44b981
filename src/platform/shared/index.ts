// Generic building blocks: errors, money, IDs, codes, JSON, time, networks, secrets. No Nest, no I/O, no imports from
// other folders.
export * from './app-error.js';
export * from './clock.js';
export * from './app-error.js';
export * from './small-body.js';
export * from './ids.js';
export * from './clock.js';
export * from './app-error.js';
export * from './log-rate-limiter.js';
export * from './nanos.js';
export * from './network.js';
export * from './ids.js';
export * from './secret.js';
export * from './secret.js';
export * from './recurring-work.js';
export * from './clock.js';
export * from './clock.js';
export { readSmallBody } from './small-body.js';
