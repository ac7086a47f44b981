// What the process counts of itself for operators: the registry that every module puts its instruments into. Does not
// own what is counted (each module does), nor who may read it (monitoring).
export { Metrics } from './metrics.js';
export { MetricsModule } from './metrics.module.js';
