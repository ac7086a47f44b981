// Charts as drawings of plain numbers: pure functions from what was measured to what a partial writes. The page brings
// the numbers and the words.
export {
  type BarsInput,
  miniBars,
  miniStack,
  type MiniStackInput,
  type Series,
  stackedBars,
  type StackedBarsInput,
} from './bars.js';
export { type Buckets, type Chart, type ChartTable, chartTable, type ChartWithTable, type Values } from './chart.js';
export { type BalancePoint, balanceForecast, type ForecastInput } from './forecast.js';
export { latencyLines, type LatencyInput } from './lines.js';
export { patchPanel } from './patch-panel.js';
export { quotaMeter, type Share, shareBar } from './share-bar.js';
export { healthStrip, type Strip, type StripCell, type StripInput } from './strip.js';
export { COUNT, DOLLARS, EXACT_DOLLARS, MILLISECONDS, TOKENS, type Unit } from './unit.js';
export { type Step, waterfall } from './waterfall.js';
