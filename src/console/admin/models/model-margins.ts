import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/shared/index.js';
import { type MarginPart, RangeTooLarge, readMargins, TimeLimitedReads } from '../../../usage/index.js';
import { type Margin, marginOf } from '../margin.js';

/** Margin of the last seven days, over calls with a known cost. */
export interface KnownMargin {
  /** Undefined if no cost is known. */
  readonly margin: Margin | undefined;
  readonly charged: bigint;
  readonly calls: number;
  /** Number of calls with a known cost. */
  readonly known: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS = 7;
const LIMIT_MS = 3000;

/** By name; undefined: the aggregation timed out. */
type Margins = ReadonlyMap<string, KnownMargin> | undefined;

/** Margins of models and channels. Optional on pages: the queries have a short timeout. */
@Injectable()
export class ModelMargins {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly clock: Clock,
  ) {}

  /** By model name. */
  byModel(): Promise<Margins> {
    return this.read('model');
  }

  /** Of one model, by channel name, highest charge first. */
  byChannel(model: string): Promise<Margins> {
    return this.read('channel', model);
  }

  private async read(by: 'model' | 'channel', model?: string): Promise<Margins> {
    const now = this.clock.now();
    // Clocks of other processes may be ahead.
    const span = { from: new Date(now - DAYS * DAY_MS), to: new Date(now + DAY_MS) };
    try {
      return margins(await this.reads.read((query) => readMargins(query, span, by, model), LIMIT_MS));
    } catch (error) {
      if (error instanceof RangeTooLarge) return undefined;
      throw error;
    }
  }
}

const margins = (parts: readonly MarginPart[]): ReadonlyMap<string, KnownMargin> =>
  new Map(
    parts.map(({ name, calls, known, cost, chargedOfKnown }) => [
      name,
      {
        margin: known === 0 ? undefined : marginOf(chargedOfKnown, cost),
        charged: chargedOfKnown,
        calls,
        known,
      },
    ]),
  );
