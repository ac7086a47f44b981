import type { UpstreamAdapter } from '../../../src/protocols/contract/index.js';
import type { DialectVendor } from '../dialect-vendor.js';

/** An upstream half, with the vendor that it is tried on. */
export interface UpstreamHalf {
  readonly upstream: UpstreamAdapter;
  readonly vendor: DialectVendor;
}
