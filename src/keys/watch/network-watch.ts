import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isIPv4 } from 'node:net';
import { ADVISORY_LOCKS, soleTransaction } from '../../platform/database/index.js';
import { Clock, networkOf } from '../../platform/shared/index.js';
import { type AddressUse, KeyNetworks, type NetworkUse, newNetworks } from './key-networks.repository.js';
import { KeyNotices } from './key-notices.js';

/** No call is recorded so long after it began without having been seen while it ran, whatever the clocks of processes say. */
const OVERLAP_MS = 2 * 60_000;

/** Learns from which networks keys are used, and has their owners told of one that is new. */
@Injectable()
export class NetworkWatch {
  constructor(
    private readonly dataSource: DataSource,
    private readonly networks: KeyNetworks,
    private readonly notices: KeyNotices,
    private readonly clock: Clock,
  ) {}

  /** Looks at the calls since the last time, unless another process is at it. */
  look(): Promise<void> {
    return soleTransaction(this.dataSource, ADVISORY_LOCKS.keyWatch, async (manager) => {
      const now = this.clock.date();
      const looked = await this.networks.looked(manager);
      const since = new Date(looked.until.getTime() - OVERLAP_MS);
      await this.learn(byNetwork(await this.networks.uses(since, looked, manager)), now, manager);
      await this.networks.lookedUntil(now, looked, manager);
    });
  }

  /** What was not used for very long is new when it is used again. Reads all networks: for now and then. */
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
    // It may be forgotten and come again, another time.
    const occasion = `${network} ${firstAt.toISOString().slice(0, 10)}`;
    return this.notices.add(
      { kind: 'new-network', accountId, keyId, occasion, at: firstAt, address, network },
      manager,
    );
  }
}

/** One for each key and network, with the address that was the first. */
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
 * The network that an address belongs to, as far as one can tell: its /24 of IPv4, its /64 of IPv6. Providers hand out
 * addresses of one home, office or machine from these, so a new address in a known one says nothing.
 * @param address as calls record it; undefined for an empty one
 */
export function networkOfAddress(address: string): string | undefined {
  if (address === '') return undefined;
  const plain = networkOf(address);
  return isIPv4(plain) ? plain.replace(/\d+$/, '0/24') : plain;
}
