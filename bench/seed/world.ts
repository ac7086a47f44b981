// What the calls of a seeded log are made of: few values that most calls have, and rare ones. Names are nobody's.

/** A value with the share of calls that have it; the shares of a list come to 1. */
export interface WeightedValue<T = string> {
  readonly value: T;
  readonly share: number;
}

const weighted = (shares: Readonly<Record<string, number>>): readonly WeightedValue[] =>
  Object.entries(shares).map(([value, share]) => ({ value, share }));

export const MODELS = weighted({
  'atlas-large': 0.42,
  'atlas-mini': 0.29,
  'sonata-2': 0.17,
  'sonata-mini': 0.08,
  'bolero-code': 0.0299,
  'bolero-audio': 0.01,
  'fuga-preview': 0.0001,
});
export const COMMON_MODEL = 'atlas-large';
export const RARE_MODEL = 'fuga-preview';

/** Multipliers of their prices. */
export const GROUPS: Readonly<Record<string, number>> = { default: 1, saver: 0.8, priority: 1.5 };
const SHARES_OF_GROUPS = weighted({ default: 0.85, saver: 0.1495, priority: 0.0005 });
export const RARE_GROUP = 'priority';

const ADDRESSES = weighted({
  '203.0.113.7': 0.6,
  '203.0.113.8': 0.25,
  '198.51.100.40': 0.1,
  '2001:db8:4:7::19': 0.0499,
  '192.0.2.250': 0.0001,
});

/** Names of the keys of the account whose log it is; the last of them was hardly used. */
export const KEYS = weighted({ production: 0.55, staging: 0.25, laptop: 0.12, notebook: 0.0799, forgotten: 0.0001 });

/** Of which channel the last attempt was; only of the first one it is known what it costs. */
export const MAIN_CHANNEL = 'log-main';
const CHANNELS = weighted({ [MAIN_CHANNEL]: 0.9, 'log-spare': 0.1 });
/** Of the model's price, what the main channel costs. */
export const COST_SHARE = 0.7;

/** How a call went. Null: nobody asked the upstream, or it never answered. */
export interface CallOutcome {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly basis: string;
  /** The share of the response that is charged for; 0: nothing is. */
  readonly charged: number;
  /** Only streams end so. */
  readonly streamed: boolean;
  readonly asked: boolean;
  readonly upstreamStatus: number | null;
}

const WELL: CallOutcome = {
  status: 'succeeded',
  reason: '',
  message: '',
  basis: 'reported',
  charged: 1,
  streamed: false,
  asked: true,
  upstreamStatus: 200,
};
const failed = (upstreamStatus: number | null, reason: string, message: string): CallOutcome => ({
  ...WELL,
  status: 'failed',
  reason,
  message,
  basis: 'free',
  charged: 0,
  upstreamStatus,
});
const LEFT = 'context canceled: the client closed the connection.';

const FATES: readonly WeightedValue<CallOutcome>[] = [
  { share: 0.925, value: WELL },
  { share: 0.015, value: { ...WELL, basis: 'estimated' } },
  {
    share: 0.03,
    value: {
      ...WELL,
      status: 'cancelled',
      reason: 'context canceled',
      message: LEFT,
      basis: 'partial',
      charged: 0.4,
      streamed: true,
    },
  },
  {
    share: 0.003,
    value: {
      ...WELL,
      status: 'failed',
      reason: 'upstream_truncated',
      message: 'The upstream closed the stream before the response was complete.',
      basis: 'partial',
      charged: 0.5,
      streamed: true,
    },
  },
  { share: 0.012, value: failed(529, 'server_is_overloaded', 'The upstream is overloaded. Retry later.') },
  { share: 0.008, value: failed(500, 'upstream_error', 'The upstream failed: internal server error') },
  { share: 0.004, value: failed(429, 'rate_limit_exceeded', "The upstream's rate limit is reached.") },
  {
    share: 0.0029,
    value: {
      ...failed(null, 'invalid_request', "'max_tokens' must be a whole number of at least 1."),
      status: 'refused',
      asked: false,
    },
  },
  { share: 0.0001, value: failed(null, 'timeout', 'The upstream did not respond in time.') },
];
export const RARE_RESULT = 'timeout';

/** All that is chosen from for each call. */
export const CHOICES = {
  models: MODELS,
  groups: SHARES_OF_GROUPS,
  addresses: ADDRESSES,
  channels: CHANNELS,
  fates: FATES,
  efforts: weighted({ '': 0.7, medium: 0.2, high: 0.1 }),
} as const;
