import { BlockList, isIP } from 'node:net';
import { NetworksNotPossible } from './api-key.errors.js';

/** Each is checked on every call. */
const MAX_NETWORKS = 100;
/** Prefix of IPv4 addresses on dual-stack sockets. */
const MAPPED = /^::ffff:(?=\d+\.)/i;
const LONGEST_TEXT = 60;

/** Allowed networks of a key, parsed once per cached caller. */
export class Networks {
  /** Separate families: `::/0` contains all IPv6 addresses and no IPv4 address. */
  private readonly lists = { 4: new BlockList(), 6: new BlockList() };

  constructor(networks: readonly string[]) {
    for (const { family, address, prefix } of networks.flatMap((network) => parseNetwork(network) ?? []))
      this.lists[family].addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
  }

  /** False for unparsable addresses. */
  includes(address: string): boolean {
    const plain = address.replace(MAPPED, '').replace(/%.*/s, '');
    const family = isIP(plain);
    if (family !== 4 && family !== 6) return false;
    return this.lists[family].check(plain, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/**
 * Networks in canonical form without duplicates.
 * @throws NetworksNotPossible naming the first invalid one
 */
export function networksOf(texts: readonly string[]): readonly string[] {
  const networks = new Set(
    texts.map((text) => {
      const network = parseNetwork(text.trim());
      if (network === undefined) throw NetworksNotPossible.misread(text.trim().slice(0, LONGEST_TEXT));
      return networkText(network);
    }),
  );
  if (networks.size > MAX_NETWORKS) throw NetworksNotPossible.tooMany(MAX_NETWORKS);
  return [...networks];
}

interface Network {
  readonly family: 4 | 6;
  readonly address: string;
  /** Prefix length; the full length for a single address. */
  readonly prefix: number;
}

/** Parses an address or a CIDR range. */
function parseNetwork(text: string): Network | undefined {
  const [, front = '', digits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = front.replace(MAPPED, '').toLowerCase();
  const family = isIP(address);
  if (family !== 4 && family !== 6) return undefined;
  const bits = family === 4 ? 32 : 128;
  // The prefix length of an IPv4-mapped IPv6 range includes the 96 bits in front.
  const prefix = digits === undefined ? bits : Number(digits) - (address.length < front.length ? 96 : 0);
  return prefix < 0 || prefix > bits ? undefined : { family, address, prefix };
}

const networkText = ({ family, address, prefix }: Network): string =>
  prefix === (family === 4 ? 32 : 128) ? address : `${address}/${prefix}`;
