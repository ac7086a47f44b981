// The usage log as users and administrators read it: pages, charts, CSV, and the details of a call.
export { callPage } from './call.view.js';
export { type CostFormula, costFormula } from './cost-formula.js';
export { type AllCallsPage, AllCallsReader, containing, type FoundAccount, undefinedIfTooLarge } from './log-reader.js';
export { type UsageOverview, UsageOverviewReader } from './overview-reader.js';
export { type ChartsInput, unsuccessfulText, usageCharts } from './usage-charts.view.js';
export { UsagePagesModule } from './usage-logs.controller.js';
export { type LogFigures, logPage } from './usage-logs.view.js';
export {
  type AddressParts,
  type ChartMeasure,
  chartMeasure,
  entryOf,
  filterOf,
  logAddress,
  type LogEntry,
  LogCursors,
  spanParts,
  type UsageQuery,
  usageQuery,
} from './usage-query.js';
