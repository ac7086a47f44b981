// Small parts that know nothing of the product: errors, amounts of money, ids, codes that people type, JSON, time,
// networks, secrets. No Nest, no I/O, no import from any other folder.
export * from './app-error.js';
export * from './clock.js';
export * from './app-error.js';
export * from './small-body.js';
export * from './ids.js';
export * from './clock.js';
export * from './app-error.js';
export * from './limited-lines.js';
export * from './nanos.js';
export * from './network.js';
export * from './ids.js';
export * from './secret.js';
export * from './secret.js';
export * from './recurring-work.js';
export * from './clock.js';
export * from './clock.js';
export { readSmallBody } from './small-body.js';
