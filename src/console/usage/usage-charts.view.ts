import { clockTime, compact, count, percent, shortDay, usd } from '../../platform/format/index.js';
import type { ChartScale, ChartUnit, Latency, Span, UsageBar, UsageFigures, UsageTotals } from '../../usage/index.js';
import {
  bucketLinks,
  type Chart,
  type ChartTable,
  chartTable,
  COUNT,
  DOLLARS,
  EXACT_DOLLARS,
  latencyLines,
  MILLISECONDS,
  stackedBars,
  TOKENS,
  type Unit,
  type Values,
} from '../web/index.js';
import type { ChartMeasure } from './usage-query.js';

export interface ChartsInput {
  readonly totals: UsageTotals;
  readonly scale: ChartScale;
  /** Of the filter: the first and the last bar may be incomplete. */
  readonly span: Span;
  /** Whether the last bar is incomplete. */
  readonly upToNow: boolean;
  /** For administrators, "cost" means upstream cost. */
  readonly chargeName: 'Cost' | 'Charged';
  readonly seriesNames: ReadonlyMap<string, string>;
  readonly measure: ChartMeasure;
  /** URL of the page with another measure. */
  measureHref(measure: ChartMeasure): string;
  /** URL of the log with the calls of a bar. */
  barHref(span: Span): string;
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
  served: (bar: UsageBar): bigint => BigInt(bar.calls - bar.refused - bar.failed),
  cost: (bar: UsageBar): bigint => bar.cost,
  tokens: (bar: UsageBar): bigint => BigInt(bar.promptTokens + bar.completionTokens),
  prompt: (bar: UsageBar): bigint => BigInt(bar.promptTokens),
  cached: (bar: UsageBar): bigint => BigInt(bar.cachedTokens),
  completion: (bar: UsageBar): bigint => BigInt(bar.completionTokens),
} as const;

/** Totals, of which one is drawn, and the table of all. */
export function usageCharts(input: ChartsInput) {
  const { total, starts, times } = input.totals;
  const { firstToken } = times.total;
  const allTokens = total.promptTokens + total.completionTokens;
  const tile = (measure: ChartMeasure, label: string, figure: string, note: string) => ({
    label,
    figure,
    note,
    href: input.measureHref(measure),
    current: input.measure === measure,
  });
  return {
    tiles: [
      tile('calls', 'Calls', count(total.calls), unsuccessfulText(total)),
      tile('cost', input.chargeName, usd(total.cost), ''),
      tile(
        'tokens',
        'Tokens',
        compact(allTokens),
        total.cachedTokens > 0 ? `${percent(total.cachedTokens, total.promptTokens)} cached` : '',
      ),
      tile(
        'latency',
        'First token',
        firstToken === undefined ? '–' : `${count(firstToken.medianMs)} ms`,
        firstToken === undefined ? '' : `p95 ${count(firstToken.p95Ms)} ms`,
      ),
    ],
    chart: { ...chartOf(input), links: bucketLinks(hrefsOf(input), titlesOf(input)) },
    scaleText: scaleText(starts, input),
    table: tableOf(input),
  };
}

/** `120 rejected, 43 failed`; empty if all calls succeeded. */
export const unsuccessfulText = ({ refused, failed }: Pick<UsageFigures, 'refused' | 'failed'>): string =>
  [refused > 0 ? `${count(refused)} rejected` : '', failed > 0 ? `${count(failed)} failed` : '']
    .filter((text) => text !== '')
    .join(', ');

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

const UNITS = { calls: COUNT, cost: DOLLARS, tokens: TOKENS } as const satisfies Partial<Record<ChartMeasure, Unit>>;

function chartOf(input: ChartsInput): Chart {
  const { measure, scale } = input;
  const per = BAR_NAMES[scale.unit].toLowerCase();
  const buckets = labelsOf(input);
  if (measure === 'latency')
    return latencyLines({
      id: 'usage',
      finding: `Time to the first token, median and 95th percentile, per ${per}`,
      buckets,
      ...latencies(input, 'firstToken'),
    });
  const series = seriesOf(input, measure);
  const { chart } = stackedBars({
    id: 'usage',
    finding: `${findingOf(input, measure)}, per ${per}`,
    caption: '',
    bucketName: '',
    buckets,
    series,
    restName: OTHERS,
    unit: UNITS[measure],
    order: series.map(({ name }) => name),
  });
  return { ...chart, legend: series.length > 1 ? chart.legend : [] };
}

function findingOf({ totals: { total }, chargeName }: ChartsInput, measure: keyof typeof UNITS): string {
  if (measure === 'cost') return `${chargeName}: ${usd(total.cost)}`;
  if (measure === 'tokens') return `${compact(total.promptTokens + total.completionTokens)} tokens`;
  return [`${count(total.calls)} calls`, unsuccessfulText(total)].filter((text) => text !== '').join(', ');
}

interface ChartSeries {
  readonly name: string;
  readonly values: bigint[];
  readonly class?: 'f1' | 'f2' | 'f5' | 'fbad';
}

/** Bottom first: those of the split; else calls by how they ended. */
function seriesOf(input: ChartsInput, measure: keyof typeof UNITS): ChartSeries[] {
  const { totals, seriesNames } = input;
  if (totals.series.length > 0) {
    const named = totals.series.map((one) => ({
      name: seriesNames.get(one) ?? one,
      values: valuesOf(input, measure, one),
    }));
    const hasRest = totals.bars.some(({ series }) => series === '');
    return hasRest ? [...named, { name: OTHERS, values: valuesOf(input, measure, ''), class: 'f5' }] : named;
  }
  if (measure !== 'calls')
    return [{ name: measure === 'cost' ? input.chargeName : 'Tokens', values: valuesOf(input, measure) }];
  return [
    { name: 'Failed', values: valuesOf(input, 'failed'), class: 'fbad' },
    { name: 'Rejected', values: valuesOf(input, 'refused'), class: 'f2' },
    { name: 'Served', values: valuesOf(input, 'served'), class: 'f1' },
  ];
}

/** URLs of the calls of each bar; undefined if there are none. */
function hrefsOf(input: ChartsInput): (string | undefined)[] {
  const { totals, span } = input;
  const calls = valuesOf(input, 'calls');
  return totals.starts.map((start, index) => {
    if (calls[index] === 0n) return undefined;
    const from = start < span.from ? span.from : start;
    return input.barHref({ from, to: totals.starts[index + 1] ?? span.to });
  });
}

const TITLES = { calls: COUNT, cost: EXACT_DOLLARS, tokens: COUNT } as const;

/** `27 Nov, 13:00: Failed 2, Served 31`. */
function titlesOf(input: ChartsInput): string[] {
  const { measure } = input;
  const labels = labelsOf(input);
  if (measure === 'latency') {
    const { median, p95 } = latencies(input, 'firstToken');
    const text = (value: Values[number] = null): string => (value === null ? '–' : MILLISECONDS.text(value));
    return labels.map((label, index) => `${label}: median ${text(median[index])}, p95 ${text(p95[index])}`);
  }
  const series = seriesOf(input, measure);
  return labels.map((label, index) => {
    const parts = series.flatMap(({ name, values }) => {
      const value = values[index] ?? 0n;
      return value === 0n ? [] : [`${name} ${TITLES[measure].text(value)}`];
    });
    return `${label}: ${parts.join(', ') || TITLES[measure].text(0n)}`;
  });
}

/** The series of a split chart come first. */
function tableOf(input: ChartsInput): ChartTable {
  const { totals, measure } = input;
  const [firstToken, duration] = [latencies(input, 'firstToken'), latencies(input, 'duration')];
  const divided = measure === 'latency' || totals.series.length === 0 ? [] : seriesOf(input, measure);
  const added = [
    ...divided.map(({ name, values }) => ({ name, values, unit: measure === 'cost' ? EXACT_DOLLARS : COUNT })),
    { name: 'Calls', values: valuesOf(input, 'calls'), unit: COUNT },
    { name: 'Rejected', values: valuesOf(input, 'refused'), unit: COUNT },
    { name: 'Failed', values: valuesOf(input, 'failed'), unit: COUNT },
    { name: input.chargeName, values: valuesOf(input, 'cost'), unit: EXACT_DOLLARS },
    { name: 'Prompt tokens', values: valuesOf(input, 'prompt'), unit: COUNT },
    { name: 'Cached', values: valuesOf(input, 'cached'), unit: COUNT },
    { name: 'Completion tokens', values: valuesOf(input, 'completion'), unit: COUNT },
  ];
  const times = [
    { name: 'First token, median', values: firstToken.median, total: totals.times.total.firstToken?.medianMs },
    { name: 'First token, p95', values: firstToken.p95, total: totals.times.total.firstToken?.p95Ms },
    { name: 'Duration, median', values: duration.median, total: totals.times.total.duration?.medianMs },
    { name: 'Duration, p95', values: duration.p95, total: totals.times.total.duration?.p95Ms },
  ].map((column) => ({ ...column, unit: MILLISECONDS }));
  const table = chartTable('Totals for this filter', BAR_NAMES[input.scale.unit], labelsOf(input), [
    ...added,
    ...times,
  ]);
  const hrefs = hrefsOf(input);
  return {
    ...table,
    rows: table.rows.map((row, index) => ({ ...row, href: hrefs[index] })),
    total: [
      ...added.map(({ values, unit }) => unit.text(values.reduce((sum, value) => sum + value, 0n))),
      ...times.map(({ total }) => (total === undefined ? '–' : MILLISECONDS.text(total))),
    ],
  };
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
  if (first === last) return `The bar is ${length} from ${barLabel(first, scale)} (${scale.timeZone})`;
  return `Each bar is ${length}, from ${barLabel(first, scale)} to ${upToNow ? 'now' : barLabel(last, scale)} (${scale.timeZone})`;
}
