// `/metrics`: access, process metrics, and the merged metrics of all workers. Each module registers its own metrics.
export { MonitoringModule, ProcessMetrics } from './monitoring.module.js';
export { serveMetrics } from './scrape.js';
