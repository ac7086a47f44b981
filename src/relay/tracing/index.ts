// OpenTelemetry traces: the trace context of clients and upstreams, spans of calls and attempts, and their export.
export { Tracing, TracingModule } from './tracing.js';
