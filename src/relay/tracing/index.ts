// Traces: the W3C context that calls come with and go on with, and spans for a collector where there is one. Does not own
// what a span tells (call/call-trace.ts), nor when a call has ended (billing).
export { Tracing } from './tracing.js';
export { TracingModule } from './tracing.module.js';
