// Small parts that know nothing of the product: errors, amounts of money, ids, codes that people type, JSON, time,
// networks, secrets. No Nest, no I/O, no import from any other folder.
export * from './app-error.js';
export * from './clock.js';
export * from './error-text.js';
export * from './expansion-limit.js';
export * from './ids.js';
export * from './iso-time.js';
export * from './json.js';
export * from './limited-lines.js';
export * from './nanos.js';
export * from './network.js';
export * from './readable-code.js';
export * from './sealing-key.js';
export * from './secret.js';
export * from './recurring-work.js';
export * from './within.js';
export * from './zoned-days.js';
export { readSmallBody } from './small-body.js';
