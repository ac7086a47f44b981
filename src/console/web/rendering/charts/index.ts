// Charts as drawings of plain numbers: pure functions from what was measured to what a partial writes. The page brings
// the numbers and the words.
export {
  type BarsInput,
  miniBars,
  miniStack,
  type MiniStackInput,
  quotaMeter,
  type Series,
  type Share,
  shareBar,
  stackedBars,
  type StackedBarsInput,
} from './bars.js';
export {
  type Buckets,
  type Chart,
  type ChartTable,
  chartTable,
  type ChartWithTable,
  COUNT,
  DOLLARS,
  EXACT_DOLLARS,
  MILLISECONDS,
  TOKENS,
  type Unit,
  type Values,
} from './chart.js';
export { balanceForecast, type BalancePoint, type ForecastInput, type LatencyInput, latencyLines } from './lines.js';
export { patchPanel } from './patch-panel.js';
export { healthStrip, type Strip, type StripCell, type StripInput } from './strip.js';
export { type Step, waterfall } from './waterfall.js';
