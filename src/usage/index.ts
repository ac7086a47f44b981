// The usage log: call details and cost lines, lists, totals and rollups, CSV export, partitions and retention. Rows
// are written by admission and settlement in relay/billing; the pages are in console/usage.
export {
  ACCOUNT_NAME,
  CALL_RESULTS,
  type CallOutcome,
  type CostLine,
  MEMBER_NAME,
  type RecordedCall,
  RESULT_LABELS,
  RESULT_TONES,
  type SnapshotView,
  TRANSPORT_LABELS,
  type UpstreamReport,
} from './calls/recorded-call.js';
export {
  type CallAttempt,
  type CallBackground,
  callBackgrounds,
  type CallDetails,
  CallDetailsReader,
} from './calls/call-details.js';
export { CallLookup } from './calls/call-lookup.js';
export { type KeyReport, KeyReportReader } from './keys/key-report.js';
export {
  KeyUse,
  KeyUseRollups,
  type KeyUses,
  KeyUsesReader,
  type RecentUse,
  type UsedKey,
  type UseOfModel,
  type UsesOf,
} from './keys/key-uses.js';
export type { Latency, Percentiles } from './rollups/latencies.js';
export { type MarginPart, ownShare, readMargins } from './rollups/margins-reader.js';
export {
  type ModelOutcomes,
  type ModelTrouble,
  modelTroubles,
  type OutcomeCounts,
  readModelOutcomes,
} from './models/model-outcomes.js';
export { type Query, TimeLimitedReads } from './time-limited-reads.js';
export { type UsageDay, UsageDays } from './rollups/usage-days.js';
export { csvLines, UsageExport, type UsageSelection } from './export/usage-export.js';
export { countCalls, readTraffic, type Span, type Traffic, type TrafficFigures } from './rollups/traffic-reader.js';
export { type ChartScale, type ChartUnit, unitFor } from './rollups/usage-chart.js';
export {
  LOG_SORTS,
  type LoggedCall,
  type LogPage,
  type LogPosition,
  type LogSort,
  type LogStart,
  UsageLog,
} from './log/usage-log.js';
export { CallPartitions } from './retention/partitions.js';
export { CallRetention, missingCalls } from './retention/retention.js';
export { CallNotFound, RangeTooLarge } from './usage.errors.js';
export { UsageModule } from './usage.module.js';
export { RollerTimings, UsageRoller } from './rollups/usage-roller.js';
export {
  type Division,
  type UsageBar,
  type UsageFigures,
  type UsageTotals,
  UsageTotalsReader,
} from './rollups/usage-totals.js';
export { type CallOwner, ownedBy, Parameters, type UsageFilter } from './usage-filter.js';
export { UPSTREAM_RESPONSES, upstreamResponse } from './upstream-response.js';
export { usedNames } from './log/used-names.js';
