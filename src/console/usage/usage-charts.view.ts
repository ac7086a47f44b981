import { clockTime, compact, count, percent, shortDay, usd } from '../../platform/format/index.js';
import type { ChartScale, ChartUnit, Latency, UsageBar, UsageFigures, UsageTotals } from '../../usage/index.js';
import {
  type Chart,
  type ChartTable,
  chartTable,
  COUNT,
  DOLLARS,
  EXACT_DOLLARS,
  latencyLines,
  MILLISECONDS,
  miniBars,
  miniStack,
  TOKENS,
  type Unit,
  type Values,
} from '../web/index.js';

interface ChartsInput {
  readonly totals: UsageTotals;
  readonly scale: ChartScale;
  /** Whether the last bar is incomplete. */
  readonly upToNow: boolean;
  /** For administrators, "cost" means upstream cost. */
  readonly chargeName: 'Cost' | 'Charged';
  readonly seriesNames: ReadonlyMap<string, string>;
}

const BAR_NAMES: Readonly<Record<ChartUnit, string>> = {
  minute: 'Minute',
  hour: 'Hour',
  'six hours': 'Six hours',
  day: 'Day',
  week: 'Week',
};
const OTHERS = 'Other';

const VALUES = {
  calls: (bar: UsageBar): bigint => BigInt(bar.calls),
  refused: (bar: UsageBar): bigint => BigInt(bar.refused),
  failed: (bar: UsageBar): bigint => BigInt(bar.failed),
  cost: (bar: UsageBar): bigint => bar.cost,
  tokens: (bar: UsageBar): bigint => BigInt(bar.promptTokens + bar.completionTokens),
  prompt: (bar: UsageBar): bigint => BigInt(bar.promptTokens),
  cached: (bar: UsageBar): bigint => BigInt(bar.cachedTokens),
  completion: (bar: UsageBar): bigint => BigInt(bar.completionTokens),
} as const;

export function usageCharts(input: ChartsInput) {
  const { totals } = input;
  const { total, starts, times } = totals;
  const { firstToken } = times.total;
  const allTokens = total.promptTokens + total.completionTokens;
  const calls = chartOf(input, 'calls', COUNT, `${count(total.calls)} calls`);
  const { median, p95 } = latencies(input, 'firstToken');
  return {
    minis: [
      mini('Calls', count(total.calls), unsuccessfulText(total), calls),
      mini(input.chargeName, usd(total.cost), '', chartOf(input, 'cost', DOLLARS, `${usd(total.cost)} total`)),
      mini(
        'Tokens',
        compact(allTokens),
        total.cachedTokens > 0 ? `${percent(total.cachedTokens, total.promptTokens)} cached` : '',
        chartOf(input, 'tokens', TOKENS, `${compact(allTokens)} tokens`),
      ),
      mini(
        'First token',
        firstToken === undefined ? '–' : `${count(firstToken.medianMs)} ms`,
        firstToken === undefined ? '' : `p95 ${count(firstToken.p95Ms)} ms`,
        latencyLines({
          id: 'first-token',
          finding: 'Median and 95th percentile of the time to the first token',
          median,
          p95,
        }),
      ),
    ],
    legend: totals.series.length === 0 ? undefined : calls.legend,
    scaleText: scaleText(starts, input),
    table: tableOf(input),
  };
}

/** `120 refused, 43 failed`; empty if all calls succeeded. */
export const unsuccessfulText = ({ refused, failed }: Pick<UsageFigures, 'refused' | 'failed'>): string =>
  [refused > 0 ? `${count(refused)} refused` : '', failed > 0 ? `${count(failed)} failed` : '']
    .filter((text) => text !== '')
    .join(', ');

const mini = (label: string, figure: string, note: string, chart: Chart) => ({ label, figure, note, chart });

const labelsOf = ({ totals, scale }: ChartsInput): string[] => totals.starts.map((start) => barLabel(start, scale));

/** One value per bar. @param series default: all */
function valuesOf({ totals }: ChartsInput, name: keyof typeof VALUES, series?: string): bigint[] {
  const byBar = new Map<number, bigint>();
  for (const bar of totals.bars) {
    if (series !== undefined && bar.series !== series) continue;
    const at = bar.start.getTime();
    byBar.set(at, (byBar.get(at) ?? 0n) + VALUES[name](bar));
  }
  return totals.starts.map((start) => byBar.get(start.getTime()) ?? 0n);
}

function latencies({ totals }: ChartsInput, name: keyof Latency): { readonly median: Values; readonly p95: Values } {
  const measured = totals.starts.map((start) => totals.times.bars.get(start.getTime())?.[name]);
  return { median: measured.map((bar) => bar?.medianMs ?? null), p95: measured.map((bar) => bar?.p95Ms ?? null) };
}

function chartOf(input: ChartsInput, name: 'calls' | 'cost' | 'tokens', unit: Unit, total: string): Chart {
  const { totals, scale, seriesNames } = input;
  const drawn = {
    id: name,
    finding: `${total}, per ${BAR_NAMES[scale.unit].toLowerCase()}`,
    buckets: labelsOf(input),
    unit,
  };
  if (totals.series.length === 0) return miniBars({ ...drawn, name, values: valuesOf(input, name) });
  const withRest = totals.bars.some(({ series }) => series === '');
  const series = [...totals.series, ...(withRest ? [''] : [])].map((one) => ({
    name: one === '' ? OTHERS : (seriesNames.get(one) ?? one),
    values: valuesOf(input, name, one),
  }));
  return miniStack({ ...drawn, series, withRest });
}

function tableOf(input: ChartsInput): ChartTable {
  const [firstToken, duration] = [latencies(input, 'firstToken'), latencies(input, 'duration')];
  return chartTable('Totals of this filter', BAR_NAMES[input.scale.unit], labelsOf(input), [
    { name: 'Calls', values: valuesOf(input, 'calls'), unit: COUNT },
    { name: 'Refused', values: valuesOf(input, 'refused'), unit: COUNT },
    { name: 'Failed', values: valuesOf(input, 'failed'), unit: COUNT },
    { name: input.chargeName, values: valuesOf(input, 'cost'), unit: EXACT_DOLLARS },
    { name: 'Prompt tokens', values: valuesOf(input, 'prompt'), unit: COUNT },
    { name: 'Cached', values: valuesOf(input, 'cached'), unit: COUNT },
    { name: 'Completion tokens', values: valuesOf(input, 'completion'), unit: COUNT },
    { name: 'First token, median', values: firstToken.median, unit: MILLISECONDS },
    { name: 'First token, p95', values: firstToken.p95, unit: MILLISECONDS },
    { name: 'Duration, median', values: duration.median, unit: MILLISECONDS },
    { name: 'Duration, p95', values: duration.p95, unit: MILLISECONDS },
  ]);
}

function barLabel(start: Date, { unit, timeZone }: ChartScale): string {
  const day = shortDay(start, timeZone);
  if (unit === 'minute') return clockTime(start, timeZone, 'minutes');
  if (unit === 'hour' || unit === 'six hours') return `${day}, ${clockTime(start, timeZone, 'minutes')}`;
  return unit === 'week' ? `Week of ${day}` : day;
}

function scaleText(starts: readonly Date[], { scale, upToNow }: ChartsInput): string {
  const [first, last] = [starts.at(0), starts.at(-1)];
  if (first === undefined || last === undefined) return '';
  const length = scale.unit === 'six hours' ? 'six hours' : `one ${scale.unit}`;
  return `Each bar is ${length}, from ${barLabel(first, scale)} to ${upToNow ? 'now' : barLabel(last, scale)} (${scale.timeZone})`;
}
