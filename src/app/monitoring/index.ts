// What operators watch the service by: `/metrics`, for whom it is, the figures of the process itself, and those of all
// workers put together. Does not own what else is counted: every module makes its own instruments (metrics).
export { MonitoringModule } from './monitoring.module.js';
export { ProcessMetrics } from './process-metrics.js';
export { serveMetrics } from './workers-metrics.js';
