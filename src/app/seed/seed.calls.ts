import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Caller, KeyDirectory } from '../../keys/index.js';
import { CallPlayer } from './call-player.js';
import { type CallScript, DAY_MS, drawAddress, drawCall, drawTime } from './call-script.js';
import { type MadeAccount, type MadeKey, OPENED_DAYS_AGO, REFUSED_DAYS } from './seed.accounts.js';
import { type SeedOffer, SeedCatalog } from './seed.catalog.js';
import type { SeededRandom } from './seeded-random.js';

const WHOLE_MONTH = [30, 0] as const;

/** A call that is about to be played, and who makes it. */
interface Planned {
  readonly script: CallScript;
  readonly caller: Caller;
}

/** The calls of the seed: those that are made, and those that are refused because a key is switched off or expired. */
@Injectable()
export class SeedCalls {
  constructor(
    private readonly player: CallPlayer,
    private readonly catalog: SeedCatalog,
    private readonly callers: KeyDirectory,
    private readonly dataSource: DataSource,
  ) {}

  /** Partitions for the months that have passed; the service itself makes those of this month and later ones. */
  async makeRoom(): Promise<void> {
    await this.dataSource.query("SELECT create_call_partitions(now() - interval '2 months', 5)");
  }

  /** Makes accounts and their keys as old as what they were opened with. What was recorded of making them is of now. */
  async makeOlder(accounts: readonly MadeAccount[], now: number): Promise<void> {
    const [opened, ids] = [new Date(now - OPENED_DAYS_AGO * DAY_MS), accounts.map(({ id }) => id)];
    await this.dataSource.query('UPDATE accounts SET created_at = $1 WHERE id = ANY ($2)', [opened, ids]);
    await this.dataSource.query('UPDATE api_keys SET created_at = $1 WHERE account_id = ANY ($2)', [opened, ids]);
  }

  /**
   * Plays an account's calls in the order of their times, one after the other: which of them it can still pay for must
   * not depend on which is quicker. Returns their number.
   */
  async play({ keys }: MadeAccount, random: SeededRandom, now: number): Promise<number> {
    const planned: Planned[] = [];
    for (const key of keys) planned.push(...(await this.plan(key, random, now)));
    const inOrder = planned.toSorted((one, other) => one.script.createdAt - other.script.createdAt);
    for (const { script, caller } of inOrder) await this.player.play(script, caller);
    return inOrder.length;
  }

  /** Tries those of its keys that are not accepted any more. Returns the number of refusals. */
  async refuse({ keys }: MadeAccount, random: SeededRandom, now: number): Promise<number> {
    let count = 0;
    for (const key of keys) {
      const caller = await this.callerOf(key);
      const protocol = this.offersFor(caller)[0]?.channel.protocol ?? '';
      for (let left = key.plan.refused ?? 0; left > 0; left -= 1, count += 1) {
        const createdAt = drawTime(random, now, REFUSED_DAYS);
        await this.player.playRefused({ createdAt, protocol, ip: drawAddress(random) }, caller);
      }
    }
    return count;
  }

  /** None when there is nothing that the key could call. */
  private async plan(key: MadeKey, random: SeededRandom, now: number): Promise<readonly Planned[]> {
    const caller = await this.callerOf(key);
    const offers = this.offersFor(caller);
    // What a call is like must not depend on the day that the seed is made on.
    const times = random.fork();
    return Array.from({ length: offers.length === 0 ? 0 : key.plan.calls }, () => {
      const createdAt = drawTime(times, now, key.plan.days ?? WHOLE_MONTH);
      return { script: drawCall(random, createdAt, offers), caller };
    });
  }

  /** Whatever the state of the key. */
  private async callerOf({ plan, secret }: MadeKey): Promise<Caller> {
    const caller = await this.callers.find(secret.reveal());
    if (caller === undefined) throw new TypeError(`The key "${plan.name}" was not made.`);
    return caller;
  }

  private offersFor({ groupName, models }: Caller): readonly SeedOffer[] {
    return this.catalog.offers(groupName).filter(({ model }) => models?.has(model.name) ?? true);
  }
}
