import dns, { type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { AppError } from '../../platform/shared/index.js';

/**
 * Where no model is served: link-local addresses with cloud metadata services, unspecified and broadcast addresses.
 * Loopback and private networks are allowed: models are served there.
 */
const FORBIDDEN = new BlockList();
FORBIDDEN.addSubnet('0.0.0.0', 8, 'ipv4');
FORBIDDEN.addSubnet('169.254.0.0', 16, 'ipv4');
FORBIDDEN.addSubnet('224.0.0.0', 4, 'ipv4');
FORBIDDEN.addAddress('255.255.255.255', 'ipv4');
FORBIDDEN.addAddress('100.100.100.200', 'ipv4');
FORBIDDEN.addAddress('168.63.129.16', 'ipv4');
FORBIDDEN.addAddress('192.0.0.192', 'ipv4');
FORBIDDEN.addAddress('::', 'ipv6');
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6');
FORBIDDEN.addSubnet('ff00::', 8, 'ipv6');
FORBIDDEN.addAddress('fd00:ec2::254', 'ipv6');
FORBIDDEN.addAddress('fd20:ce::254', 'ipv6');
// 169.254.0.0/16 in IPv6 forms: NAT64 (RFC 6052), 6to4 (RFC 3056), IPv4-compatible (RFC 4291).
FORBIDDEN.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
FORBIDDEN.addSubnet('2002:a9fe::', 32, 'ipv6');
FORBIDDEN.addSubnet('::a9fe:0', 112, 'ipv6');

/** Whether an IP address is forbidden, including IPv4 addresses in IPv6 form. Host names are allowed. */
export function isForbidden(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const family = isIP(address);
  return family !== 0 && FORBIDDEN.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** The upstream's name resolves to a forbidden address only. Allows failover. */
export class ForbiddenAddress extends AppError {
  constructor(host: string) {
    super(
      'upstream_error',
      'The upstream address is not allowed. Contact an administrator.',
      { failover: true },
      { cause: new Error(`${host} is or resolves to a link-local, unspecified or multicast address.`) },
    );
  }
}

/** DNS lookup that leaves out forbidden addresses. The connection uses its result, so rebinding has no effect. */
export const lookupAllowed: LookupFunction = (host, options, done) => {
  dns.lookup(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
    if (error) return done(error, []);
    const allowed = found.filter(({ address }) => !isForbidden(address));
    const [first] = allowed;
    if (first === undefined) return done(new ForbiddenAddress(host), []);
    if (options.all === true) done(null, allowed);
    else done(null, first.address, first.family);
  });
};
