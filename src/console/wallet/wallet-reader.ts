import { Injectable } from '@nestjs/common';
import { Clock, dayOf } from '../../platform/shared/index.js';
import { TimeLimitedReads } from '../../usage/index.js';
import type { Visitor } from '../../auth/index.js';
import { allowanceOf, type TopUpPosition, WalletStatement } from '../../wallet/index.js';

const PAGE_ROWS = 50;

/** Where the two lists of the page begin; undefined: at the newest. */
export interface WalletPlaces {
  readonly topUps: TopUpPosition | undefined;
  readonly days: Date | undefined;
}

/** Reads what the page of the wallet shows, all of one moment. */
@Injectable()
export class WalletReader {
  constructor(
    private readonly statement: WalletStatement,
    private readonly reads: TimeLimitedReads,
    private readonly clock: Clock,
  ) {}

  read({ accountId, timeZone }: Visitor, places: WalletPlaces) {
    const now = this.clock.date();
    return this.reads.read(async (query) => {
      const topUps = await this.statement.topUps(query, accountId, places.topUps, PAGE_ROWS);
      const days = await this.statement.consumption(query, accountId, timeZone, places.days);
      return {
        wallet: await this.statement.balance(query, accountId),
        history: await this.statement.history(query, accountId, timeZone, now),
        pace: await this.statement.pace(query, accountId, now),
        allowance: await allowanceOf(query, accountId),
        topUps: topUps.topUps,
        /** Where the next page begins; undefined: there is none. */
        topUpsBehind: topUps.older,
        days: days.days,
        daysBehind: days.before,
        dayNames: days.days.map(({ start }) => dayOf(start, timeZone)),
        now,
        timeZone,
      };
    });
  }
}
