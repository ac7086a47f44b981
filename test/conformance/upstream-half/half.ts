import type { UpstreamAdapter } from '../../../src/protocols/contract/index.js';
import type { VendorDouble } from '../vendor-double.js';

/** An upstream half with a vendor's double. */
export interface UpstreamHalf {
  readonly upstream: UpstreamAdapter;
  readonly vendor: VendorDouble;
}
