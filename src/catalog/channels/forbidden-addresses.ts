import dns, { type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { AppError } from '../../platform/shared/index.js';

/**
 * Where no model is ever served: the link itself, with the metadata services of clouds that give out credentials there;
 * nowhere; everybody. Loopback and private networks are not among them: models are served there.
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
// 169.254.0.0/16 as IPv6 writes it for a network that translates (RFC 6052, RFC 3056) or once did (RFC 4291).
FORBIDDEN.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
FORBIDDEN.addSubnet('2002:a9fe::', 32, 'ipv6');
FORBIDDEN.addSubnet('::a9fe:0', 112, 'ipv6');

/** Says of an IP address, an IPv4 one that is written as IPv6 included, whether no channel may be there. Names may. */
export function isForbidden(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const family = isIP(address);
  return family !== 0 && FORBIDDEN.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** An upstream whose name leads where no channel may be. Another channel may answer. */
export class ForbiddenAddress extends AppError {
  constructor(host: string) {
    super(
      'upstream_error',
      'The address of the upstream is not allowed. Contact an administrator.',
      { failover: true },
      { cause: new Error(`${host} is or resolves to a link-local, unspecified or multicast address.`) },
    );
  }
}

/**
 * Looks a name up for a connection, and leaves out what is forbidden. What it gives is what is connected to, so that a
 * name cannot lead elsewhere once it has been looked at.
 */
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
