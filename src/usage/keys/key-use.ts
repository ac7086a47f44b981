import { Injectable } from '@nestjs/common';
import { KeyUsesReader, type UsedKey, type UseOfModel } from './key-uses.js';
import { TimeLimitedReads } from '../time-limited-reads.js';
import type { Span } from '../sums/traffic-reader.js';

/** Calls of every outcome, running ones too. */
export interface RecentUse {
  readonly callsSince: number;
  readonly callsInDay: number;
  /** Of all calls, those that are not kept any more among them. */
  readonly lastAt: Date | undefined;
}

interface RecentRow {
  readonly since: number;
  readonly day: number;
  readonly last: Date | null;
}

const RECENT = `
  SELECT sum(u.since)::int AS since, sum(u.day)::int AS day, max(u.last) AS last
    FROM (
      SELECT count(*) FILTER (WHERE created_at >= $3) AS since,
             count(*) FILTER (WHERE created_at >= now() - interval '1 day') AS day, NULL::timestamptz AS last
        FROM calls
       WHERE key_id = $2 AND account_id = $1 AND created_at >= least($3, now() - interval '1 day')
       UNION ALL
      SELECT 0, 0, (SELECT created_at FROM calls WHERE key_id = $2 AND account_id = $1 ORDER BY created_at DESC LIMIT 1)
       UNION ALL
      SELECT 0, 0, (SELECT max(last_at) FROM dropped_calls WHERE key_id = $2 AND account_id = $1)
       UNION ALL
      SELECT count(*) FILTER (WHERE created_at >= $3),
             count(*) FILTER (WHERE created_at >= now() - interval '1 day'), max(created_at)
        FROM open_calls
       WHERE account_id = $1 AND key_id = $2) u`;

/** What a key was used for, so that its owner can tell whether it was they. */
@Injectable()
export class KeyUse {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly uses: KeyUsesReader,
  ) {}

  /**
   * @param since from when on `callsSince` counts
   * @throws RangeTooLarge
   */
  async recent({ accountId, id }: UsedKey, since: Date): Promise<RecentUse> {
    const [row] = await this.reads.read((query) => query<RecentRow>(RECENT, [accountId, id, since]));
    return { callsSince: row?.since ?? 0, callsInDay: row?.day ?? 0, lastAt: row?.last ?? undefined };
  }

  /** What it was used for, where most calls came from first. Running calls are not counted. @throws RangeTooLarge */
  byAddress(key: UsedKey, span: Span, most: number): Promise<readonly UseOfModel[]> {
    return this.reads.read((query) => this.uses.byAddressAndModel(query, key, span, most));
  }
}
