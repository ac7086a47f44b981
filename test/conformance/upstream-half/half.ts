import type { UpstreamAdapter } from '../../../src/protocols/contract/index.js';
import type { DialectVendor } from '../dialect-vendor.js';

/** An upstream half with a vendor's double. */
export interface UpstreamHalf {
  readonly upstream: UpstreamAdapter;
  readonly vendor: DialectVendor;
}
