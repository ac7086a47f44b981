// `/metrics`: access, process metrics, and the merged metrics of all workers. Each module registers its own metrics.
export { MonitoringModule } from './monitoring.module.js';
export { ProcessMetrics } from './process-metrics.js';
export { serveMetrics } from './workers-metrics.js';
