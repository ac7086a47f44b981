import { Injectable } from '@nestjs/common';
import { percent, usd } from '../../../platform/format/index.js';
import { Clock } from '../../../platform/shared/index.js';
import { type MarginPart, RangeTooLarge, readMargins, TimeLimitedReads } from '../../../usage/index.js';

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
        margin: isCostKnown({ calls, known, cost, chargedOfKnown }) ? marginOf(chargedOfKnown, cost) : undefined,
        charged: chargedOfKnown,
        calls,
        known,
      },
    ]),
  );

/**
 * Whether a sum of costs says anything. Calls that were refused, or failed for free, are known to cost nothing even if
 * the costs of their channel are not known: next to calls of unknown cost, their $0 is no information.
 */
export const isCostKnown = ({ calls, known, cost, chargedOfKnown }: Omit<MarginPart, 'name'>): boolean =>
  known > 0 && (known === calls || cost > 0n || chargedOfKnown > 0n);

/** Charge minus upstream cost. Amounts in nano-dollars. */
interface Margin {
  readonly amount: bigint;
  /** Share of the charge: `20%`, `−12%`; `–` if nothing was charged. */
  readonly share: string;
  readonly isLoss: boolean;
}

/** Undefined if the charge or the cost is unknown. */
export function marginOf(charged: bigint | null, cost: bigint | null): Margin | undefined {
  if (charged === null || cost === null) return undefined;
  const amount = charged - cost;
  const share = percent(Math.abs(Number(amount)), Number(charged));
  return { amount, share: amount < 0n && charged > 0n ? `−${share}` : share, isLoss: amount < 0n };
}

/** `margin $35.08, 20%` or `loss $2.10, −12%`. */
export function marginText({ amount, share, isLoss }: Margin): string {
  return `${isLoss ? 'loss' : 'margin'} ${usd(isLoss ? -amount : amount)}${share === '–' ? '' : `, ${share}`}`;
}
