// The usage log as people read it: its pages, charts and CSV file, and the details of a call.
export { type AllCallsPage, AllCallsReader } from './log-reader.js';
export { callPage } from './call.view.js';
export { type CostFormula, costFormula } from './cost-formula.js';
export { entryOf, type LogEntry, type LogFigures, logPage, LogPlaces } from './usage-logs.view.js';
export { type UsageOverview, UsageOverviewReader } from './overview-reader.js';
export { usageCharts } from './usage-charts.view.js';
export { UsagePagesModule } from './usage-logs.controller.js';
export { type AddressParts, filterOf, logAddress, type UsageQuery, usageQuery } from './usage-query.js';
