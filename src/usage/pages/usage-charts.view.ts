import {
  chartTable,
  clockTime,
  compact,
  COUNT,
  count,
  DOLLARS,
  EXACT_DOLLARS,
  latencyLines,
  MILLISECONDS,
  miniBars,
  miniStack,
  percent,
  shortDay,
  TOKENS,
  type Unit,
  usd,
  type Values,
} from '../../web/index.js';
import type { FirstTokenTimes } from '../first-token-times.js';
import type { ChartScale, ChartUnit } from '../usage-chart.js';
import type { UsageBar, UsageSums } from '../usage-sums.js';

interface ChartsInput {
  readonly sums: UsageSums;
  readonly times: FirstTokenTimes;
  readonly scale: ChartScale;
  /** By series; what has none is the rest. */
  readonly seriesNames: ReadonlyMap<string, string>;
}

const BAR_NAMES: Readonly<Record<ChartUnit, string>> = {
  minute: 'Minute',
  hour: 'Hour',
  'six hours': 'Six hours',
  day: 'Day',
  week: 'Week',
};
const REST = 'Other';

/** The four small charts of a filter, and their numbers as one table. */
export function usageCharts({ sums, times, scale, seriesNames }: ChartsInput) {
  const { total, starts, bars } = sums;
  const buckets = starts.map((start) => barLabel(start, scale));
  const per = `per ${BAR_NAMES[scale.unit].toLowerCase()}`;
  const inOrder = <T>(valueOf: (at: number) => T): T[] => starts.map((start) => valueOf(start.getTime()));
  const sumOf = (value: (bar: UsageBar) => bigint, series?: string): bigint[] => {
    const byBar = new Map<number, bigint>();
    for (const bar of bars)
      if (series === undefined || bar.series === series)
        byBar.set(bar.start.getTime(), (byBar.get(bar.start.getTime()) ?? 0n) + value(bar));
    return inOrder((at) => byBar.get(at) ?? 0n);
  };
  const draw = (id: string, name: string, value: (bar: UsageBar) => bigint, unit: Unit, finding: string) => {
    const words = `${finding}, ${per}`;
    if (sums.series.length === 0) return miniBars({ id, finding: words, buckets, name, values: sumOf(value), unit });
    const withRest = bars.some(({ series }) => series === '');
    const series = [...sums.series, ...(withRest ? [''] : [])].map((one) => ({
      name: one === '' ? REST : (seriesNames.get(one) ?? one),
      values: sumOf(value, one),
    }));
    return miniStack({ id, finding: words, buckets, series, withRest, unit });
  };
  const median: Values = inOrder((at) => times.bars.get(at)?.medianMs ?? null);
  const p95: Values = inOrder((at) => times.bars.get(at)?.p95Ms ?? null);
  const calls = (bar: UsageBar): bigint => BigInt(bar.calls);
  const cost = (bar: UsageBar): bigint => bar.cost;
  const tokens = (bar: UsageBar): bigint => BigInt(bar.promptTokens + bar.completionTokens);
  const allTokens = total.promptTokens + total.completionTokens;
  const drawn = {
    calls: draw('calls', 'calls', calls, COUNT, `${count(total.calls)} calls`),
    cost: draw('cost', 'cost', cost, DOLLARS, `${usd(total.cost)} in all`),
    tokens: draw('tokens', 'tokens', tokens, TOKENS, `${compact(allTokens)} tokens`),
  };
  return {
    minis: [
      {
        label: 'Calls',
        figure: count(total.calls),
        note: total.failed > 0 ? `${count(total.failed)} failed` : '',
        chart: drawn.calls,
      },
      { label: 'Cost', figure: usd(total.cost), note: '', exact: total.cost, chart: drawn.cost },
      {
        label: 'Tokens',
        figure: compact(allTokens),
        note: total.cachedTokens > 0 ? `${percent(total.cachedTokens, total.promptTokens)} cached` : '',
        chart: drawn.tokens,
      },
      {
        label: 'First token',
        figure: times.total === undefined ? '–' : `${count(times.total.medianMs)} ms`,
        note: times.total === undefined ? '' : `p95 ${count(times.total.p95Ms)} ms`,
        chart: latencyLines({
          id: 'first-token',
          finding: 'Median and 95th percentile of the time to the first token',
          median,
          p95,
        }),
      },
    ],
    legend: sums.series.length === 0 ? undefined : drawn.calls.legend,
    sampled: times.sampled,
    scaleText: scaleText(starts, scale),
    table: chartTable('Totals of this filter', BAR_NAMES[scale.unit], buckets, [
      { name: 'Calls', values: sumOf(calls), unit: COUNT },
      { name: 'Failed', values: sumOf((bar) => BigInt(bar.failed)), unit: COUNT },
      { name: 'Cost', values: sumOf(cost), unit: EXACT_DOLLARS },
      { name: 'Prompt tokens', values: sumOf((bar) => BigInt(bar.promptTokens)), unit: COUNT },
      { name: 'Cached', values: sumOf((bar) => BigInt(bar.cachedTokens)), unit: COUNT },
      { name: 'Completion tokens', values: sumOf((bar) => BigInt(bar.completionTokens)), unit: COUNT },
      { name: 'First token, median', values: median, unit: MILLISECONDS },
      { name: 'p95', values: p95, unit: MILLISECONDS },
    ]),
  };
}

function barLabel(start: Date, { unit, timeZone }: ChartScale): string {
  const day = shortDay(start, timeZone);
  if (unit === 'minute') return clockTime(start, timeZone, 'minutes');
  if (unit === 'hour' || unit === 'six hours') return `${day}, ${clockTime(start, timeZone, 'minutes')}`;
  return unit === 'week' ? `Week of ${day}` : day;
}

function scaleText(starts: readonly Date[], scale: ChartScale): string {
  const [first, last] = [starts.at(0), starts.at(-1)];
  if (first === undefined || last === undefined) return '';
  const name = scale.unit === 'hour' ? 'an hour' : `a ${scale.unit}`;
  const length = scale.unit === 'six hours' ? 'six hours' : name;
  return `One bar is ${length}, ${barLabel(first, scale)} to ${barLabel(last, scale)} (${scale.timeZone})`;
}
