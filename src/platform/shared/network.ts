import { isIP } from 'node:net';

/** Not more than this of an IPv6 address tells customers apart: the rest a host picks for itself, as often as it likes. */
const GROUPS_OF_NETWORK = 4;

/**
 * What counts as one client's address: an IPv4 address itself, of an IPv6 address its first 64 bits. An IPv4 address that
 * a socket shows as an IPv6 one (`::ffff:192.0.2.1`) is what it is.
 */
export function networkOf(address: string): string {
  const plain = withoutMapping(address);
  if (!plain.includes(':')) return plain;
  const [front = [], back] = plain.split('::', 2).map((half) => (half === '' ? [] : half.split(':')));
  const zeros = back === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...(back ?? [])].slice(0, GROUPS_OF_NETWORK);
  return `${groups.map((group) => group.toLowerCase().replace(/^0+(?=.)/, '')).join(':')}::/64`;
}

/** What a request says of where it came from: as a proxy that is believed has it, and by its socket, while that is open. */
interface Origin {
  readonly ip?: string | undefined;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/**
 * Whom a request came from. A proxy that is believed may pass on what is no address, because its own client wrote it:
 * then it is the proxy itself. Empty when a client is gone already.
 */
export function addressOf({ ip = '', socket }: Origin): string {
  return plainAddress(ip) ?? plainAddress(socket.remoteAddress ?? '') ?? '';
}

/** As an address is written, without the port that some proxies put behind it. */
function plainAddress(text: string): string | undefined {
  const [, address = text] = /^\[(.*)\](?::\d+)?$/.exec(text) ?? /^([\d.]+):\d+$/.exec(text) ?? [];
  return isIP(address) === 0 ? undefined : withoutMapping(address);
}

const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
