import type { KeyReport, KeyUses, UsesOf } from '../../usage/index.js';
import { usageCharts } from '../usage/index.js';
import { type ChartWithTable, chartTable, COUNT, EXACT_DOLLARS, stackedBars } from '../web/index.js';
import { clockTime } from '../../platform/format/index.js';

/** What the page of a key shows of its calls. */
export const keyUseView = (report: KeyReport) => ({
  charts: usageCharts({ ...report, upToNow: true, chargeName: 'Charged', seriesNames: new Map() }),
  hours: report.hours.length === 0 ? undefined : hoursOfDay(report),
  addresses: usesTable(report.addresses, 'address', 'All other addresses', 'not recorded'),
  models: usesTable(report.models, 'model', 'All other models', 'model unknown'),
  missing: report.missing,
});

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const hourText = (hour: number): string => `${hour.toString().padStart(2, '0')}:00`;

/** When it is used: the calls of all days by the hour that the reader's clock showed. */
function hoursOfDay({ hours, scale: { timeZone } }: KeyReport): ChartWithTable {
  const bars = HOURS.map(() => ({ calls: 0, failed: 0, cost: 0n }));
  for (const { start, calls, failed, cost } of hours) {
    const bar = bars[Number(clockTime(start, timeZone, 'minutes').slice(0, 2))];
    if (bar === undefined) continue;
    bar.calls += calls;
    bar.failed += failed;
    bar.cost += cost;
  }
  const values = bars.map(({ calls }) => calls);
  const buckets = HOURS.map(hourText);
  const busiest = hourText(values.indexOf(Math.max(...values)));
  const { chart } = stackedBars({
    id: 'hours',
    finding: `Calls by hour of the day, peak at ${busiest}`,
    caption: '',
    bucketName: 'Hour',
    buckets,
    series: [{ name: 'Calls', values }],
    restName: '',
    unit: COUNT,
  });
  const table = chartTable('Calls by hour of the day', 'Hour', buckets, [
    { name: 'Calls', values, unit: COUNT },
    { name: 'Failed', values: bars.map(({ failed }) => failed), unit: COUNT },
    { name: 'Charged', values: bars.map(({ cost }) => cost), unit: EXACT_DOLLARS },
  ]);
  return { chart, table };
}

/** @param unknown what stands where there is no name */
function usesTable({ rows, others }: KeyUses, kind: 'address' | 'model', rest: string, unknown: string) {
  const named = rows.map(({ name, ...use }: UsesOf) => ({ name, unknown, isAddress: kind === 'address', ...use }));
  return others === undefined ? named : [...named, { name: '', unknown: rest, isAddress: false, ...others }];
}
