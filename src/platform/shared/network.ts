import { isIP } from 'node:net';

/** A host chooses the rest of its IPv6 address freely, so only the first 64 bits identify a client. */
const GROUPS_OF_NETWORK = 4;

/**
 * Identifies a client for limits: the IPv4 address, or the first 64 bits of an IPv6 address. IPv4-mapped addresses
 * (`::ffff:192.0.2.1`) count as IPv4.
 */
export function networkOf(address: string): string {
  const plain = withoutMapping(address);
  if (!plain.includes(':')) return plain;
  const [front = [], back] = plain.split('::', 2).map((half) => (half === '' ? [] : half.split(':')));
  const zeros = back === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...(back ?? [])].slice(0, GROUPS_OF_NETWORK);
  return `${groups.map((group) => group.toLowerCase().replace(/^0+(?=.)/, '')).join(':')}::/64`;
}

/** Origin of a request: as reported by a trusted proxy, and by its socket. */
interface Origin {
  readonly ip?: string | undefined;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/**
 * The client's address. A trusted proxy may pass on an invalid address written by its own client; then it is the
 * proxy's. Empty if the client is gone.
 */
export function addressOf({ ip = '', socket }: Origin): string {
  return plainAddress(ip) ?? plainAddress(socket.remoteAddress ?? '') ?? '';
}

/** The address without the port that some proxies append. */
function plainAddress(text: string): string | undefined {
  const [, address = text] = /^\[(.*)\](?::\d+)?$/.exec(text) ?? /^([\d.]+):\d+$/.exec(text) ?? [];
  return isIP(address) === 0 ? undefined : withoutMapping(address);
}

const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
