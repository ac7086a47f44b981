import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isIPv4 } from 'node:net';
import { ADVISORY_LOCKS, soleTransaction } from '../../platform/database/index.js';
import { Clock, networkOf } from '../../platform/shared/index.js';
import { type AddressUse, KeyNetworks, type NetworkUse, newNetworks } from './key-networks.repository.js';
import { KeyNotices } from './key-notices.js';

/**
 * No call is recorded this long after its start without having been visible as running, whatever the clocks of
 * processes say.
 */
const OVERLAP_MS = 2 * 60_000;

/** Learns from which networks keys are used, and reports new ones. */
@Injectable()
export class NetworkWatch {
  constructor(
    private readonly dataSource: DataSource,
    private readonly networks: KeyNetworks,
    private readonly notices: KeyNotices,
    private readonly clock: Clock,
  ) {}

  /** Scans calls since the last scan, unless another process does. */
  look(): Promise<void> {
    return soleTransaction(this.dataSource, ADVISORY_LOCKS.keyWatch, async (manager) => {
      const now = this.clock.date();
      const looked = await this.networks.looked(manager);
      const since = new Date(looked.until.getTime() - OVERLAP_MS);
      await this.learn(byNetwork(await this.networks.uses(since, looked, manager)), now, manager);
      await this.networks.lookedUntil(now, looked, manager);
    });
  }

  /** Forgets networks that were not used for a long time. Reads all networks, so it runs rarely. */
  forgetOld(): Promise<void> {
    return this.networks.forgetOld(this.dataSource.manager);
  }

  private async learn(uses: readonly NetworkUse[], now: Date, manager: EntityManager): Promise<void> {
    const fresh = await this.networks.refresh(uses, manager);
    const keyIds = [...new Set(fresh.map(({ keyId }) => keyId))];
    for (const [id, key] of await this.networks.known(keyIds, manager)) {
      const ofKey = fresh.filter(({ keyId }) => keyId === id);
      for (const { use, told } of newNetworks(ofKey, key, now)) {
        await this.networks.add(use, manager);
        if (told) await this.tell(use, key.accountId, manager);
      }
    }
  }

  private tell({ keyId, network, address, firstAt }: NetworkUse, accountId: string, manager: EntityManager) {
    // A forgotten network can be reported again.
    const occasion = `${network} ${firstAt.toISOString().slice(0, 10)}`;
    return this.notices.add(
      { kind: 'new-network', accountId, keyId, occasion, at: firstAt, address, network },
      manager,
    );
  }
}

/** One per key and network, with the first address. */
function byNetwork(uses: readonly AddressUse[]): readonly NetworkUse[] {
  const found = new Map<string, NetworkUse>();
  for (const use of uses) {
    const network = networkOfAddress(use.address);
    if (network === undefined) continue;
    const name = `${use.keyId} ${network}`;
    const before = found.get(name) ?? { ...use, network };
    const first = use.firstAt < before.firstAt ? use : before;
    const lastAt = use.lastAt > before.lastAt ? use.lastAt : before.lastAt;
    found.set(name, { keyId: use.keyId, network, address: first.address, firstAt: first.firstAt, lastAt });
  }
  return [...found.values()];
}

/**
 * The network of an address: /24 for IPv4, /64 for IPv6. A home, office or machine usually gets its addresses from one
 * of these, so a new address in a known one means nothing.
 * @param address as recorded with calls; undefined if empty
 */
export function networkOfAddress(address: string): string | undefined {
  if (address === '') return undefined;
  const plain = networkOf(address);
  return isIPv4(plain) ? plain.replace(/\d+$/, '0/24') : plain;
}
