import { AppError } from '../../platform/shared/index.js';

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

export type SeedEnding = Seen & Fate;

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
export const endingsOf = (stream: boolean): readonly SeedEnding[] =>
  ENDINGS.filter(({ streamOnly }) => stream || !streamOnly);
