import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
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

/** Margins of models and channels, read from the log of calls. */
@Injectable()
export class ModelMargins {
  constructor(private readonly dataSource: DataSource) {}

  /** By the name of each model that was called. */
  async byModel(): Promise<ReadonlyMap<string, KnownMargin>> {
    return margins(await this.dataSource.query<Row[]>(`SELECT model AS name, ${SUMS} ${RECENT} GROUP BY model`));
  }

  /** Of one model by the name of each channel that answered for it, the dearest first. */
  async byChannel(model: string): Promise<ReadonlyMap<string, KnownMargin>> {
    return margins(
      await this.dataSource.query<Row[]>(
        `SELECT channel AS name, ${SUMS} ${RECENT} AND model = $1 GROUP BY channel ORDER BY sum(cost) DESC, channel`,
        [model],
      ),
    );
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
