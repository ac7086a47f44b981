import { BlockList, isIP } from 'node:net';
import { NetworksNotPossible } from './api-key.errors.js';

/** Each is looked at for every call. */
const MAX_NETWORKS = 100;
/** How an IPv4 address looks behind a socket of both families. */
const MAPPED = /^::ffff:(?=\d+\.)/i;
const LONGEST_TEXT = 60;

/** Where a key may be used. Made once for a caller that is remembered, since looking is all that a call has time for. */
export class Networks {
  /** Each family by itself: `::/0` is every IPv6 address, and no IPv4 one. */
  private readonly lists = { 4: new BlockList(), 6: new BlockList() };

  constructor(networks: readonly string[]) {
    for (const { family, address, prefix } of networks.flatMap((network) => parseNetwork(network) ?? []))
      this.lists[family].addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
  }

  /** What cannot be read as an address is in no network. */
  includes(address: string): boolean {
    const plain = address.replace(MAPPED, '').replace(/%.*/s, '');
    const family = isIP(plain);
    if (family !== 4 && family !== 6) return false;
    return this.lists[family].check(plain, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/**
 * Networks as a key stores them: each once, in one form.
 * @throws NetworksNotPossible naming the first that is none
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
  /** The bits that count; all of them of a single address. */
  readonly prefix: number;
}

/** An address, or a range in CIDR notation. */
function parseNetwork(text: string): Network | undefined {
  const [, front = '', digits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = front.replace(MAPPED, '').toLowerCase();
  const family = isIP(address);
  if (family !== 4 && family !== 6) return undefined;
  const bits = family === 4 ? 32 : 128;
  // The prefix of an IPv4 range that is written as an IPv6 one counts the bits in front of it too.
  const prefix = digits === undefined ? bits : Number(digits) - (address.length < front.length ? 96 : 0);
  return prefix < 0 || prefix > bits ? undefined : { family, address, prefix };
}

const networkText = ({ family, address, prefix }: Network): string =>
  prefix === (family === 4 ? 32 : 128) ? address : `${address}/${prefix}`;
