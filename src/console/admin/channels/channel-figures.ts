import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/shared/index.js';
import { RangeTooLarge, TimeLimitedReads } from '../../../usage/index.js';
import { healthStrip, type Strip } from '../../web/index.js';

const HOURS = 24;
const HOUR_MS = 3_600_000;
const READ_LIMIT_MS = 3000;

/** Statistics of a channel for the last 24 hours. */
export interface ChannelFigures {
  /** Attempts whose outcome the upstream is responsible for. */
  readonly judged: number;
  /** Share of these that succeeded, 0 to 1. */
  readonly success: number;
  /** Median; undefined if there were no tokens. */
  readonly firstTokenMs: number | undefined;
  readonly strip: Strip;
}

interface FiguresRow {
  readonly channel: string;
  /** Null for the total. */
  readonly hour: Date | null;
  readonly judged: number;
  readonly succeeded: number;
  readonly first_token_ms: number | null;
}

/**
 * Excludes failures caused by the client, including disconnects. Uses the index on `created_at`.
 */
const READ = `
  SELECT channel, hour, count(*)::integer AS judged, (count(*) FILTER (WHERE outcome = 'succeeded'))::integer AS succeeded,
         percentile_disc(0.5) WITHIN GROUP (ORDER BY first_token_ms) AS first_token_ms
    FROM (SELECT channel, outcome, first_token_ms, date_trunc('hour', created_at, 'UTC') AS hour
            FROM call_attempts
           WHERE created_at >= $1 AND created_at <= $2
             AND outcome NOT IN ('cancelled', 'context_canceled', 'invalid_request', 'context_length_exceeded',
                                 'model_not_found', 'request_too_large', 'insufficient_quota')) AS attempts
   GROUP BY GROUPING SETS ((channel, hour), (channel))`;

/** Reads channel statistics for the last 24 hours from call attempts. */
@Injectable()
export class ChannelFiguresReader {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly clock: Clock,
  ) {}

  /**
   * By channel name at the time of the attempt; includes processes whose clocks are ahead. Undefined if the query times out:
   * pages work without statistics.
   */
  async lastDay(): Promise<ReadonlyMap<string, ChannelRows> | undefined> {
    const nowMs = this.clock.now();
    const from = new Date(startOf(nowMs));
    try {
      const rows = await this.reads.read(
        (query) => query<FiguresRow>(READ, [from, new Date(nowMs + HOUR_MS)]),
        READ_LIMIT_MS,
      );
      const byChannel = new Map<string, FiguresRow[]>();
      for (const row of rows) byChannel.set(row.channel, [...(byChannel.get(row.channel) ?? []), row]);
      return new Map([...byChannel].map(([name, own]) => [name, new ChannelRows(own)]));
    } catch (error) {
      if (error instanceof RangeTooLarge) return undefined;
      throw error;
    }
  }

  /** Combines the rows of all names of a renamed channel. Undefined if there are no attempts. */
  figuresOf(rows: readonly ChannelRows[]): ChannelFigures | undefined {
    const total = rows.flatMap((one) => one.total ?? []);
    const judged = total.reduce((sum, row) => sum + row.judged, 0);
    if (judged === 0) return undefined;
    const succeeded = total.reduce((sum, row) => sum + row.succeeded, 0);
    const [most] = total.toSorted((one, other) => other.judged - one.judged);
    return {
      judged,
      success: succeeded / judged,
      firstTokenMs: most?.first_token_ms ?? undefined,
      strip: stripOf(rows, this.clock.now()),
    };
  }
}

/** The rows of one channel name. */
export class ChannelRows {
  constructor(private readonly rows: readonly FiguresRow[]) {}

  get total(): FiguresRow | undefined {
    return this.rows.find(({ hour }) => hour === null);
  }

  of(hourMs: number): FiguresRow | undefined {
    return this.rows.find(({ hour }) => hour?.getTime() === hourMs);
  }
}

const startOf = (nowMs: number): number => Math.floor(nowMs / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS;

function stripOf(rows: readonly ChannelRows[], nowMs: number): Strip {
  const firstMs = startOf(nowMs);
  return healthStrip({
    name: 'Success by hour, last 24 hours (UTC)',
    cellName: 'Hour',
    valueName: 'Succeeded',
    cells: Array.from({ length: HOURS }, (_, index) => {
      const hourMs = firstMs + index * HOUR_MS;
      const own = rows.flatMap((one) => one.of(hourMs) ?? []);
      const judged = own.reduce((sum, row) => sum + row.judged, 0);
      const succeeded = own.reduce((sum, row) => sum + row.succeeded, 0);
      return {
        label: new Date(hourMs).toISOString().slice(11, 16),
        share: judged === 0 ? undefined : succeeded / judged,
      };
    }),
  });
}
