import fc from 'fast-check';
import type { ChartUnit } from '../../src/usage/rollups/usage-chart.js';
import type { UsageFilter } from '../../src/usage/usage-filter.js';
import type { Division } from '../../src/usage/rollups/usage-totals.js';
import { ACCOUNTS, CHANNELS, GROUPS, KEYS, MODELS } from './arbitrary-calls.js';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

const ago = fc.oneof(fc.nat({ max: 70 * DAY_MS }), fc.constantFrom(0, 3 * DAY_MS, 40 * DAY_MS, 70 * DAY_MS));

/** Once in four, so that many filters are rarely on at once, and seldom leave nothing. */
const sometimes = <T>(values: readonly T[]): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constantFrom(...values) });

/** What a chart can be asked for. */
export const question = fc
  .record({
    /** How long ago it begins and ends. */
    span: fc.tuple(ago, ago).map(([one, other]) => ({ from: Math.max(one, other), to: Math.min(one, other) })),
    /** Which of the calls of the span is asked for by its ID. */
    request: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat() }),
    accountId: sometimes(ACCOUNTS),
    model: sometimes(MODELS.slice(0, 2)),
    keyId: sometimes(KEYS),
    group: sometimes(GROUPS),
    channel: sometimes(CHANNELS.slice(0, 2)),
    upstream: sometimes<UsageFilter['upstream']>(['none', { from: 429, to: 429 }, { from: 500, to: 599 }]),
    atALoss: sometimes([true]),
    result: sometimes(['completed', 'cut', 'refused', 'failed', 'timeout', 'open'] as const),
    division: sometimes<Division>(['model', 'key', 'channel']),
    unit: fc.constantFrom<ChartUnit>('minute', 'hour', 'six hours', 'day', 'week'),
    timeZone: fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Chatham'),
  })
  .map((requested) => (requested.unit === 'minute' ? { ...requested, span: firstHours(requested.span) } : requested));

export type Question = typeof question extends fc.Arbitrary<infer Q> ? Q : never;

/** No chart has more minutes. */
const firstHours = ({ from, to }: { from: number; to: number }) => ({ from, to: Math.max(to, from - 2 * HOUR_MS) });
