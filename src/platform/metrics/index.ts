// The metrics registry of the process. Each module registers its own metrics; app/monitoring serves them.
export { Metrics, MetricsModule } from './metrics.js';
