import { Injectable } from '@nestjs/common';
import type { Query } from './time-limited-reads.js';
import { barOf, type ChartScale } from './usage-chart.js';
import { conditions, Parameters, type UsageFilter } from './usage-filter.js';

/** Milliseconds to the first token, of streams that came to one. */
export interface FirstTokens {
  readonly medianMs: number;
  readonly p95Ms: number;
}

export interface FirstTokenTimes {
  /** Undefined where no stream came to one. */
  readonly total: FirstTokens | undefined;
  /** By the time that a bar begins at, in ms. */
  readonly bars: ReadonlyMap<number, FirstTokens>;
  /** Whether they are those of one call in 32: of more than 50,000, that is as good, and all would take seconds. */
  readonly sampled: boolean;
}

const MOST_READ = 50_000;

interface Row {
  readonly start: Date | null;
  readonly times: readonly [number, number] | null;
}

/** Median and 95th percentile of the time to the first token. They cannot be summed up, so they are read from the calls. */
@Injectable()
export class FirstTokenTimesReader {
  /** @param calls how many calls the filter has */
  async read(query: Query, filter: UsageFilter, scale: ChartScale, calls: number): Promise<FirstTokenTimes> {
    const sampled = calls > MOST_READ;
    if (calls === 0) return { total: undefined, bars: new Map(), sampled };
    const parameters = new Parameters();
    const zone = parameters.add(scale.timeZone);
    const rows = await query<Row>(
      `SELECT ${barOf(scale.unit, 'c.created_at', zone)} AS start,
              percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY c.first_token_ms) AS times
         FROM calls c
        WHERE c.created_at >= ${parameters.time(filter.from)} AND c.created_at < ${parameters.time(filter.to)}
          AND c.first_token_ms IS NOT NULL${sampled ? SAMPLE : ''}${conditions(filter, parameters)}
        GROUP BY GROUPING SETS ((1), ())`,
      parameters.values,
    );
    const bars = new Map<number, FirstTokens>();
    let total: FirstTokens | undefined;
    for (const { start, times } of rows) {
      if (times === null) continue;
      const measured = { medianMs: Math.round(times[0]), p95Ms: Math.round(times[1]) };
      if (start === null) total = measured;
      else bars.set(start.getTime(), measured);
    }
    return { total, bars, sampled };
  }
}

/** As the index has it: the last digits of an id are random. */
const SAMPLE = ` AND right(c.id, 2) IN ('00', '20', '40', '60', '80', 'a0', 'c0', 'e0')`;
