import { AppError } from '../../platform/shared/index.js';
import type { TokenUsage } from '../../protocols/contract/index.js';
import type { SeedOffer } from './seed.catalog.js';

/** Deterministic pseudo-random numbers (mulberry32). */
export class SeededRandom {
  constructor(private state: number) {}

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An independent sequence, for an unknown number of draws. */
  fork(): SeededRandom {
    return new SeededRandom(Math.floor(this.next() * 4_294_967_296));
  }

  /** True with this probability. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** An integer, log-uniform, as sizes and times are distributed. */
  spread(min: number, max: number): number {
    return Math.round(min * (max / min) ** this.next());
  }

  /** A random entry, by weight. @throws RangeError when there is none */
  weighted<Entry extends { readonly weight: number }>(entries: readonly Entry[]): Entry {
    let left = this.next() * entries.reduce((sum, { weight }) => sum + weight, 0);
    const drawn = entries.find(({ weight }) => (left -= weight) < 0) ?? entries.at(-1);
    if (drawn === undefined) throw new RangeError('Cannot draw from an empty list.');
    return drawn;
  }

  /** A random entry, all equally likely. @throws RangeError when there is none */
  pick<Entry>(entries: readonly Entry[]): Entry {
    return this.weighted(entries.map((entry) => ({ entry, weight: 1 }))).entry;
  }
}

/** A seed call before it is played. */
export interface CallScript {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly ip: string;
  readonly stream: boolean;
  readonly effort: string | undefined;
  readonly outputLimit: number | undefined;
  /** The attempted channels; all but the last fail. */
  readonly offers: readonly [SeedOffer, ...SeedOffer[]];
  readonly usage: TokenUsage;
  readonly firstTokenMs: number;
  readonly durationMs: number;
  readonly ending: SeedEnding;
}

export const DAY_MS = 24 * 60 * 60 * 1000;

/** Min age of a call, so that none ends in the future. */
const YOUNGEST_MS = 3 * 60 * 1000;
const ADDRESSES = ['203.0.113.7', '203.0.113.42', '198.51.100.23', '2001:db8::5d'];
const EFFORTS = [undefined, undefined, 'low', 'medium', 'high'];
const FAILED_OVER = 0.03;

/** A time within the given days before now, mostly during working hours. */
export function drawTime(random: SeededRandom, now: number, [from, to]: readonly [number, number]): number {
  const youngest = now - Math.max(to * DAY_MS, YOUNGEST_MS);
  const oldest = now - from * DAY_MS;
  for (;;) {
    const time = Math.floor(oldest + random.next() * (youngest - oldest));
    if (random.chance(activityAt(new Date(time)))) return time;
  }
}

function activityAt(time: Date): number {
  const weekend = [0, 6].includes(time.getUTCDay());
  const working = time.getUTCHours() >= 7 && time.getUTCHours() < 19;
  return (working ? 1 : 0.2) * (weekend ? 0.4 : 1);
}

export const drawAddress = (random: SeededRandom): string => random.pick(ADDRESSES);

/** A call of one of the offers. @throws RangeError when there is none */
export function drawCall(random: SeededRandom, createdAt: number, offers: readonly SeedOffer[]): CallScript {
  const offer = random.pick(offers.filter(({ channel }) => channel.tier === offers[0]?.channel.tier));
  const reasons = offer.model.capabilities['reasoning'] === true;
  const stream = random.chance(0.75);
  const usage = drawUsage(random, offer, reasons);
  const firstTokenMs = random.spread(180, 2500) + usage.reasoning * 8;
  return {
    createdAt,
    ip: drawAddress(random),
    stream,
    effort: reasons ? random.pick(EFFORTS) : undefined,
    outputLimit: random.chance(0.5) ? offer.model.maxOutputTokens : undefined,
    offers: drawOffers(random, offer, offers),
    usage,
    firstTokenMs,
    durationMs: firstTokenMs + (usage.output - usage.reasoning) * random.spread(6, 20),
    ending: random.weighted(endingsOf(stream)),
  };
}

/** The offer; sometimes followed by another channel of the same protocol, after a failover. */
function drawOffers(random: SeededRandom, offer: SeedOffer, offers: readonly SeedOffer[]): CallScript['offers'] {
  const failover = random.chance(FAILED_OVER);
  const other = offers.find(
    ({ model, channel }) =>
      model === offer.model && channel !== offer.channel && channel.protocol === offer.channel.protocol,
  );
  return failover && other ? [offer, other] : [offer];
}

function drawUsage(random: SeededRandom, { model, channel }: SeedOffer, reasons: boolean): TokenUsage {
  const input = Math.min(random.spread(120, 90_000), Math.floor(model.contextWindow * 0.8));
  const cacheRead = random.chance(0.5) ? Math.floor(input * 0.9 * random.next()) : 0;
  // The only protocol that reports cache writes.
  const cacheWrite = channel.protocol === 'messages' && cacheRead > 0 ? Math.floor((input - cacheRead) * 0.8) : 0;
  const text = random.spread(15, 1800);
  const reasoning = reasons && random.chance(0.4) ? random.spread(60, 1500) : 0;
  return { input, cacheRead, cacheWrite, cacheWrite1h: 0, output: text + reasoning, reasoning };
}

/** An observed call, and how often it occurs. */
interface CallObservation {
  readonly weight: number;
  /** Null: it sent no headers. */
  readonly upstreamStatus: number | null;
  /** Whether content was sent to the client. */
  readonly begun: boolean;
  /** Whether the upstream reported its usage. */
  readonly reported: boolean;
  /** Whether this only happens to streams. */
  readonly streamOnly: boolean;
}

type EndStatus =
  | { readonly status: 'succeeded'; readonly error?: never }
  /** The relay process died. */
  | { readonly status: 'interrupted'; readonly error?: never }
  | { readonly status: 'failed' | 'cancelled' | 'refused'; readonly error: AppError };

type SeedEnding = CallObservation & EndStatus;

const DEFAULT_OBSERVATION = { upstreamStatus: 200, begun: false, reported: false, streamOnly: false };

const ending = (weight: number, endStatus: EndStatus, observed: Partial<CallObservation> = {}): SeedEnding => ({
  ...DEFAULT_OBSERVATION,
  ...observed,
  weight,
  ...endStatus,
});

/** The upstream sent an error, or nothing. */
const failed = (weight: number, upstreamStatus: number | null, error: AppError): SeedEnding =>
  ending(weight, { status: 'failed', error }, { upstreamStatus });

/** The client left. */
const cancelled = (weight: number, observed: Partial<CallObservation>): SeedEnding =>
  ending(
    weight,
    {
      status: 'cancelled',
      error: new AppError('context_canceled', 'context canceled: the client closed the connection.'),
    },
    observed,
  );

const TRUNCATED = new AppError(
  'upstream_truncated',
  'The upstream closed the stream before the response was complete.',
);
const NO_LIMIT = new AppError('invalid_request', "'max_tokens' must be a whole number of at least 1.");

/** Weights are percentages. */
const ENDINGS: readonly SeedEnding[] = [
  ending(87, { status: 'succeeded' }, { begun: true, reported: true }),
  ending(1.5, { status: 'succeeded' }, { begun: true }),
  failed(1.2, 529, new AppError('server_is_overloaded', 'The upstream is overloaded. Retry later.')),
  failed(0.8, 500, new AppError('upstream_error', 'The upstream failed: internal server error')),
  failed(
    0.6,
    429,
    new AppError('rate_limit_exceeded', "The upstream's rate limit is reached. Please try again in 8s."),
  ),
  failed(0.5, null, new AppError('timeout', 'The upstream did not respond in time.')),
  failed(
    0.3,
    401,
    new AppError('upstream_auth', "The provider rejected this service's credentials. Contact an administrator."),
  ),
  ending(1, { status: 'failed', error: TRUNCATED }, { begun: true, streamOnly: true }),
  cancelled(3, { begun: true, reported: true, streamOnly: true }),
  cancelled(1.5, { begun: true, streamOnly: true }),
  cancelled(0.5, {}),
  cancelled(0.8, { upstreamStatus: null }),
  ending(0.4, { status: 'interrupted' }),
  ending(0.9, { status: 'refused', error: NO_LIMIT }),
];

/** The possible endings of a call. */
const endingsOf = (stream: boolean): readonly SeedEnding[] => ENDINGS.filter(({ streamOnly }) => stream || !streamOnly);
