import type { AuditObjectKind, RecordedChange } from '../../../platform/audit/index.js';
import type { ChartScale, Traffic } from '../../../usage/index.js';
import { COUNT, type Notice, stackedBars } from '../../web/index.js';
import { clockTime, count, percent, shortDay, usd } from '../../../platform/format/index.js';
import { accountPath } from '../list-address.js';
import { isCostKnown, marginOf } from '../models/model-margins.js';
import type { OverviewReading } from './overview-reader.js';

/** A selectable range, ending now. */
interface OverviewRange {
  readonly name: string;
  readonly label: string;
  readonly ms: number;
  /** `Last 24 hours`, and the name of the preceding span. */
  readonly words: string;
  readonly before: string;
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

export const DAY: OverviewRange = {
  name: '24h',
  label: '24 hours',
  ms: DAY_MS,
  words: 'Last 24 hours',
  before: 'previous day',
};
export const OVERVIEW_RANGES: readonly OverviewRange[] = [
  { name: '1h', label: '1 hour', ms: HOUR_MS, words: 'Last hour', before: 'previous hour' },
  DAY,
  { name: '7d', label: '7 days', ms: 7 * DAY_MS, words: 'Last 7 days', before: 'previous 7 days' },
  { name: '30d', label: '30 days', ms: 30 * DAY_MS, words: 'Last 30 days', before: 'previous 30 days' },
];

interface OverviewInput {
  readonly range: OverviewRange;
  readonly scale: ChartScale;
  readonly reading: OverviewReading;
  readonly notices: readonly Notice[];
}

const UNKNOWN = '–';

export function overviewView({ range, scale, reading, notices }: OverviewInput) {
  const { traffic, changes } = reading;
  return {
    words: range.words,
    ranges: OVERVIEW_RANGES.map(({ name, label }) => ({
      label,
      href: name === DAY.name ? '/admin' : `/admin?range=${name}`,
      current: name === range.name,
    })),
    notices,
    stats: [callsFigure(reading, range), failedFigure(traffic), chargedFigure(traffic), firstTokenFigure(reading)],
    tooLarge: traffic === undefined && {
      text: 'There are too many calls in this range to aggregate in time. Choose a shorter range.',
      href: '/admin?range=1h',
    },
    chart: traffic && trafficChart(traffic, scale, range),
    models: traffic && chargedByModel(traffic),
    spenders: traffic && spendersOf(traffic, range),
    changesTooSlow: changes === undefined,
    changes: changes?.map(shownChange),
  };
}

/** A key figure; `change` is relative to the preceding span. */
interface KeyFigure {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly change?: { readonly text: string; readonly class: 'up' | 'down' };
}

function callsFigure({ traffic, callsBefore }: OverviewReading, { before }: OverviewRange): KeyFigure {
  const label = 'Calls';
  if (traffic === undefined) return { label, value: UNKNOWN, note: '' };
  const { calls } = traffic.total;
  const value = count(calls);
  if (callsBefore === undefined) return { label, value, note: '' };
  if (callsBefore === 0) return { label, value, note: `none in the ${before}` };
  const more = calls - callsBefore;
  if (more === 0) return { label, value, note: `same as the ${before}` };
  const text = `${more > 0 ? '+' : '−'}${percent(Math.abs(more), callsBefore)}`;
  return { label, value, change: { text, class: more > 0 ? 'up' : 'down' }, note: `vs. ${before}` };
}

function failedFigure(traffic: Traffic | undefined): KeyFigure {
  const label = 'Failed';
  if (traffic === undefined) return { label, value: UNKNOWN, note: '' };
  const { calls, refused, failed, failedAfterRetry } = traffic.total;
  const others = refused === 0 ? '' : `; ${count(refused)} rejected`;
  if (failed === 0) return { label, value: percent(0, calls), note: `no failed calls${others}` };
  const note = `${count(failed)} call${failed === 1 ? '' : 's'}, ${count(failedAfterRetry)} after retries${others}`;
  return { label, value: percent(failed, calls), note };
}

function chargedFigure(traffic: Traffic | undefined): KeyFigure {
  const label = 'Charged';
  if (traffic === undefined) return { label, value: UNKNOWN, note: '' };
  const { calls, charged, known, cost, chargedOfKnown } = traffic.total;
  const value = usd(charged);
  if (!isCostKnown(traffic.total)) {
    const unknown = known === 0 ? 'all calls' : `${count(calls - known)} call${calls - known === 1 ? '' : 's'}`;
    return { label, value, note: `cost ${UNKNOWN}${calls > 0 ? `, unknown for ${unknown}` : ''}` };
  }
  const margin = marginOf(chargedOfKnown, cost)?.share ?? UNKNOWN;
  const over = known < calls ? `, based on ${count(known)} call${known === 1 ? '' : 's'}` : '';
  return { label, value, note: `cost ${usd(cost)}, margin ${margin}${over}` };
}

function firstTokenFigure({ firstToken }: OverviewReading): KeyFigure {
  const label = 'First token, median';
  const times = firstToken?.times;
  if (times === undefined) return { label, value: UNKNOWN, note: firstToken === undefined ? '' : 'no streams' };
  const own = firstToken?.ownMs === undefined ? '' : `relay ${count(firstToken.ownMs)} ms, `;
  return { label, value: `${count(times.medianMs)} ms`, note: `${own}p95 ${count(times.p95Ms)} ms` };
}

const BAR_NAMES: Readonly<Record<ChartScale['unit'], readonly [name: string, per: string]>> = {
  minute: ['Minute', 'minute'],
  hour: ['Hour', 'hour'],
  'six hours': ['Six hours', 'six hours'],
  day: ['Day', 'day'],
  week: ['Week', 'week'],
};

function trafficChart({ bars, total }: Traffic, { unit, timeZone }: ChartScale, { words }: OverviewRange) {
  const [bucketName, per] = BAR_NAMES[unit];
  const day = (start: Date): string => shortDay(start, timeZone);
  const time = (start: Date): string => clockTime(start, timeZone, 'minutes');
  const labels = bars.map(({ start }, index) => {
    if (unit === 'day' || unit === 'week') return day(start);
    // A 24-hour range starts and ends at the same clock hour.
    return unit === 'six hours' || (unit === 'hour' && index === 0) ? `${day(start)}, ${time(start)}` : time(start);
  });
  return {
    text: `Calls per ${per}`,
    ...stackedBars({
      id: 'traffic',
      finding: `Calls per ${per}, ${words.toLowerCase()}. ${count(total.calls)} calls, ${count(total.refused)} rejected, ${count(total.failed)} failed`,
      caption: `Calls per ${per}`,
      bucketName,
      buckets: labels,
      series: [
        { name: 'Failed', values: bars.map(({ failed }) => failed), class: 'fbad' },
        { name: 'Rejected', values: bars.map(({ refused }) => refused), class: 'f2' },
        { name: 'Served', values: bars.map(({ calls, refused, failed }) => calls - refused - failed), class: 'f1' },
      ],
      restName: '',
      unit: COUNT,
      order: ['Failed', 'Rejected', 'Served'],
    }),
  };
}

const MAX_MODELS = 5;

/** Bars for the models with the highest charges, and one for the rest. The longest bar has full width. */
function chargedByModel(traffic: Traffic) {
  const models = traffic.models.filter(({ charged }) => charged > 0n);
  const shown = models.slice(0, MAX_MODELS).map((one) => ({ ...one, rest: false }));
  const others = models.slice(MAX_MODELS);
  const charged = others.reduce((sum, one) => sum + one.charged, 0n);
  const calls = others.reduce((sum, one) => sum + one.calls, 0);
  const name = `${count(others.length)} other model${others.length === 1 ? '' : 's'}`;
  const all = [...shown, ...(others.length > 0 ? [{ name, charged, calls, rest: true }] : [])];
  const longest = all.reduce((most, one) => (one.charged > most ? one.charged : most), 0n);
  return all.map((one) => ({
    name: one.name || 'unknown model',
    href: one.rest || one.name === '' ? undefined : `/admin/calls?model=${encodeURIComponent(one.name)}`,
    charged: usd(one.charged),
    note: `${count(one.calls)} call${one.calls === 1 ? '' : 's'}, ${percent(Number(one.charged), Number(traffic.total.charged))}`,
    class: one.rest ? 'f5' : 'f1',
    width: longest === 0n ? 0 : Number((one.charged * 100n) / longest),
  }));
}

const spendersOf = ({ accounts, spenders }: NonNullable<OverviewReading['traffic']>, { name: range }: OverviewRange) =>
  accounts.map(({ name: id, calls, charged }) => {
    const account = spenders.get(id);
    return {
      name: account?.name ?? id,
      href: accountPath(id),
      calls,
      callsHref: `/admin/calls?user=${encodeURIComponent(account === undefined || id.startsWith('org_') ? id : account.name)}${range === DAY.name ? '' : `&range=${range}`}`,
      charged: usd(charged),
      balance: account === undefined ? UNKNOWN : usd(account.balance),
    };
  });

const ICONS: Readonly<Partial<Record<AuditObjectKind, string>>> = {
  account: 'person',
  key: 'key',
  channel: 'plug',
  model: 'price',
  group: 'layers',
  limits: 'layers',
  code: 'ticket',
  calls: 'pulse',
};

const shownChange = ({ actor, action, object, lines, at }: RecordedChange) => ({
  icon: ICONS[object.kind] ?? 'sliders',
  who: actor.name,
  text: `${action} ${object.name}`,
  lines: lines.slice(0, 2),
  at,
});
