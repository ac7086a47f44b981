// The usage log: call details and cost lines, lists, totals and rollups, CSV export, partitions and retention. Rows
// are written by admission and settlement in relay/billing; the pages are in console/usage.
export { CALL_RESULTS, type CallResult, RESULT_LABELS, RESULT_TONES } from './calls/call-result.js';
export { type CallBackground, callBackgrounds } from './calls/call-backgrounds.js';
export { type CallAttempt, type CallDetails, CallDetailsReader } from './calls/call-details.js';
export { CallLookup } from './calls/call-lookup.js';
export { type KeyReport, KeyReportReader } from './keys/key-report.js';
export { KeyUse, type RecentUse } from './keys/key-use.js';
export { KeyUseRollups } from './keys/key-use-rollups.js';
export { type KeyUses, KeyUsesReader, type UsedKey, type UseOfModel, type UsesOf } from './keys/key-uses.js';
export type { Latency } from './sums/latencies.js';
export type { Percentiles } from './sums/latency-buckets.js';
export { type MarginPart, readMargins } from './sums/margins-reader.js';
export { type OutcomeCounts, type ModelOutcomes, readModelOutcomes } from './models/model-outcomes.js';
export { type ModelTrouble, modelTroubles } from './models/model-troubles.js';
export { type CostLine, type RecordedCall, type SnapshotView, type UpstreamReport } from './calls/recorded-call.js';
export { type Query, TimeLimitedReads } from './time-limited-reads.js';
export { type UsageDay, UsageDays } from './sums/usage-days.js';
export { UsageExport, type UsageSelection } from './export/usage-export.js';
export { ownShare } from './sums/own-share.js';
export { countCalls, readTraffic, type Span, type Traffic, type TrafficFigures } from './sums/traffic-reader.js';
export { type ChartScale, type ChartUnit, unitFor } from './sums/usage-chart.js';
export { type LoggedCall, type LogPage, UsageLog } from './log/usage-log.js';
export { CallPartitions } from './retention/partitions.js';
export { CallRetention } from './retention/retention.js';
export { CallNotFound, RangeTooLarge } from './usage.errors.js';
export { UsageModule } from './usage.module.js';
export { RollerTimings, UsageRoller } from './sums/usage-roller.js';
export { csvLines } from './export/usage.csv.js';
export {
  type Division,
  type UsageBar,
  type UsageFigures,
  type UsageTotals,
  UsageTotalsReader,
} from './sums/usage-totals.js';
export { missingCalls } from './retention/missing-calls.js';
export { type UsageFilter } from './usage-filter.js';
export { type LogPosition, type LogStart } from './log/log-start.js';
export { UPSTREAM_RESPONSES, upstreamResponse } from './upstream-response.js';
export { usedNames } from './log/used-names.js';
