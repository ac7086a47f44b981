import { AppError } from '../../platform/shared/index.js';
import type { TokenUsage } from '../../protocols/contract/index.js';
import type { SeedOffer } from './seed.catalog.js';

/** Numbers that look drawn by chance and are the same in every run (the generator is mulberry32). */
export class SeededRandom {
  constructor(private state: number) {}

  /** From 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Another sequence, which this one goes on without: for draws of which nobody knows how many it takes. */
  fork(): SeededRandom {
    return new SeededRandom(Math.floor(this.next() * 4_294_967_296));
  }

  /** True in this share of cases. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** A whole number; small ones as often as those ten times as large, which is how sizes and times are spread. */
  spread(least: number, most: number): number {
    return Math.round(least * (most / least) ** this.next());
  }

  /** One of the entries, each by its weight. @throws RangeError when there is none */
  weighted<Entry extends { readonly weight: number }>(entries: readonly Entry[]): Entry {
    let left = this.next() * entries.reduce((sum, { weight }) => sum + weight, 0);
    const drawn = entries.find(({ weight }) => (left -= weight) < 0) ?? entries.at(-1);
    if (drawn === undefined) throw new RangeError('Cannot draw from an empty list.');
    return drawn;
  }

  /** One of the entries, each as likely as another. @throws RangeError when there is none */
  pick<Entry>(entries: readonly Entry[]): Entry {
    return this.weighted(entries.map((entry) => ({ entry, weight: 1 }))).entry;
  }
}

/** Everything about one call of the seed, before it is played. */
export interface CallScript {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly ip: string;
  readonly stream: boolean;
  readonly effort: string | undefined;
  readonly outputLimit: number | undefined;
  /** The channels that are tried; all but the last one fail. At least one. */
  readonly tries: readonly [SeedOffer, ...SeedOffer[]];
  readonly usage: TokenUsage;
  readonly firstTokenMs: number;
  readonly durationMs: number;
  readonly ending: SeedEnding;
}

export const DAY_MS = 24 * 60 * 60 * 1000;

/** The youngest call lies so far back, so that none seems to have ended in the future. */
const YOUNGEST_MS = 3 * 60 * 1000;
const ADDRESSES = ['203.0.113.7', '203.0.113.42', '198.51.100.23', '2001:db8::5d'];
const EFFORTS = [undefined, undefined, 'low', 'medium', 'high'];
const FAILED_OVER = 0.03;

/** A time within the given days before now, during working hours more often than at night or on a weekend. */
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

/** One call over one of the offers, of which there must be at least one. */
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
    tries: drawTries(random, offer, offers),
    usage,
    firstTokenMs,
    durationMs: firstTokenMs + (usage.output - usage.reasoning) * random.spread(6, 20),
    ending: random.weighted(endingsOf(stream)),
  };
}

/** The offer alone; now and then its channel failed and another one of the same dialect answered. */
function drawTries(random: SeededRandom, offer: SeedOffer, offers: readonly SeedOffer[]): CallScript['tries'] {
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
  // The one dialect that says what was written to a cache; who uses a cache there writes to it too.
  const cacheWrite = channel.protocol === 'messages' && cacheRead > 0 ? Math.floor((input - cacheRead) * 0.8) : 0;
  const text = random.spread(15, 1800);
  const reasoning = reasons && random.chance(0.4) ? random.spread(60, 1500) : 0;
  return { input, cacheRead, cacheWrite, cacheWrite1h: 0, output: text + reasoning, reasoning };
}

/** What was seen of a call of the seed when it ended, and how often it ends so. */
interface Seen {
  readonly weight: number;
  /** What the upstream answered with; null when its headers never came. */
  readonly upstreamStatus: number | null;
  /** Content had gone to the client. */
  readonly begun: boolean;
  /** The upstream said how many tokens it took. */
  readonly reported: boolean;
  /** Can only happen to a stream. */
  readonly streamOnly: boolean;
}

type Fate =
  | { readonly status: 'succeeded'; readonly error?: never }
  /** The process that answered it died. */
  | { readonly status: 'interrupted'; readonly error?: never }
  | { readonly status: 'failed' | 'cancelled' | 'refused'; readonly error: AppError };

type SeedEnding = Seen & Fate;

const NOTHING_SEEN = { upstreamStatus: 200, begun: false, reported: false, streamOnly: false };

const ending = (weight: number, fate: Fate, seen: Partial<Seen> = {}): SeedEnding => ({
  ...NOTHING_SEEN,
  ...seen,
  weight,
  ...fate,
});

/** Unanswered: what came, if anything, was an error. */
const failed = (weight: number, upstreamStatus: number | null, error: AppError): SeedEnding =>
  ending(weight, { status: 'failed', error }, { upstreamStatus });

/** The client left. */
const cancelled = (weight: number, seen: Partial<Seen>): SeedEnding =>
  ending(
    weight,
    {
      status: 'cancelled',
      error: new AppError('context_canceled', 'context canceled: the client closed the connection.'),
    },
    seen,
  );

const TRUNCATED = new AppError(
  'upstream_truncated',
  'The upstream closed the stream before the response was complete.',
);
const NO_LIMIT = new AppError('invalid_request', "'max_tokens' must be a whole number of at least 1.");

/** In a hundred calls, so many of each. */
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
    new AppError('upstream_auth', "The upstream rejected the relay's credential. Contact an administrator."),
  ),
  ending(1, { status: 'failed', error: TRUNCATED }, { begun: true, streamOnly: true }),
  cancelled(3, { begun: true, reported: true, streamOnly: true }),
  cancelled(1.5, { begun: true, streamOnly: true }),
  cancelled(0.5, {}),
  cancelled(0.8, { upstreamStatus: null }),
  ending(0.4, { status: 'interrupted' }),
  ending(0.9, { status: 'refused', error: NO_LIMIT }),
];

/** The endings that a call can come to. */
const endingsOf = (stream: boolean): readonly SeedEnding[] => ENDINGS.filter(({ streamOnly }) => stream || !streamOnly);
