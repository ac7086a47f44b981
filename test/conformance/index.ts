export { describeBothHalves } from './both-halves/index.js';
export type { DialectUnderTest } from './both-halves/dialect-under-test.js';
export type { ClientAbility, ClientHalf } from './client-half/half.js';
export { describeClientHalf } from './client-half/index.js';
export type { DialectClient } from './dialect-client.js';
export type { DialectVendor } from './dialect-vendor.js';
export type { UpstreamAbility, UpstreamHalf } from './upstream-half/half.js';
export { describeUpstreamHalf } from './upstream-half/index.js';
