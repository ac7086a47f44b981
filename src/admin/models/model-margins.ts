import { Injectable } from '@nestjs/common';
import { RangeTooLarge, TimeLimitedReads } from '../../usage/index.js';
import { type Margin, marginOf } from '../margin.js';

/** What calls of the last seven days have brought, as far as their cost is known. */
export interface KnownMargin {
  /** Undefined where no cost is known. */
  readonly margin: Margin | undefined;
  readonly charged: bigint;
  readonly calls: number;
  /** Of so many of the calls the cost is known. */
  readonly known: number;
}

interface Row {
  readonly name: string;
  readonly calls: number;
  readonly known: number;
  readonly charged: string | null;
  readonly cost: string | null;
}

const DAYS = '7 days';
const SUMS = `count(*)::integer AS calls, count(upstream_cost)::integer AS known,
  sum(cost) FILTER (WHERE upstream_cost IS NOT NULL) AS charged, sum(upstream_cost) AS cost`;
const RECENT = `FROM calls WHERE created_at > now() - interval '${DAYS}' AND channel <> ''`;

const LIMIT_MS = 3000;

/** What is known of margins, by name; undefined: there are too many calls to add them up in time. */
type Margins = ReadonlyMap<string, KnownMargin> | undefined;

/** Margins of models and channels, read from the log of calls. Pages are of use without them. */
@Injectable()
export class ModelMargins {
  constructor(private readonly reads: TimeLimitedReads) {}

  /** By the name of each model that was called. */
  byModel(): Promise<Margins> {
    return this.read(`SELECT model AS name, ${SUMS} ${RECENT} GROUP BY model`);
  }

  /** Of one model by the name of each channel that answered for it, the dearest first. */
  byChannel(model: string): Promise<Margins> {
    return this.read(
      `SELECT channel AS name, ${SUMS} ${RECENT} AND model = $1 GROUP BY channel ORDER BY sum(cost) DESC, channel`,
      [model],
    );
  }

  private async read(sql: string, values: readonly string[] = []): Promise<Margins> {
    try {
      return margins(await this.reads.read((query) => query<Row>(sql, values), LIMIT_MS));
    } catch (error) {
      if (error instanceof RangeTooLarge) return undefined;
      throw error;
    }
  }
}

const margins = (rows: readonly Row[]): ReadonlyMap<string, KnownMargin> =>
  new Map(
    rows.map(({ name, calls, known, charged, cost }) => [
      name,
      {
        margin: known === 0 ? undefined : marginOf(amount(charged), amount(cost)),
        charged: amount(charged),
        calls,
        known,
      },
    ]),
  );

const amount = (text: string | null): bigint => BigInt(text ?? '0');
