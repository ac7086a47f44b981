import { isIPv4 } from 'node:net';
import { networkOf } from '../../platform/shared/index.js';

/**
 * The network that an address belongs to, as far as one can tell: its /24 of IPv4, its /64 of IPv6. Providers hand out
 * addresses of one home, office or machine from these, so a new address in a known one says nothing.
 * @param address as calls record it; undefined for an empty one
 */
export function networkOfAddress(address: string): string | undefined {
  if (address === '') return undefined;
  const plain = networkOf(address);
  return isIPv4(plain) ? plain.replace(/\d+$/, '0/24') : plain;
}
