// The path of a call: API endpoints, request bodies, planning, attempts at upstreams, the lane of the response, and
// writing it to the client. Also what a key can ask besides calls: models, its own limits, token counts, stored
// responses.
export { AdapterRegistry } from './adapter.registry.js';
export { apiControllers } from './api-controllers.js';
export { ChannelProbe, type CheckResult, type ProbeResult, ChannelChecks } from './channel-checks.js';
export { DryRun, type DryRoute, type DryRunResult, type DryRunInput } from './dry-run.js';
export { RelayTimings } from './relay-timings.js';
export { ApiModule, RelayModule } from './relay.module.js';
export {
  runForRequest,
  arrivalOf,
  canonicalPath,
  currentRequestId,
  isApiAddress,
  isApiRequest,
  noteArrival,
  requestLineOf,
  withoutQueryKey,
} from './call-context.js';
export { RunState } from './run-state.js';
export { type SessionCall, SessionCalls, type SessionEstimate } from './session-calls.js';
export { Tracing, TracingModule } from './tracing/tracing.js';
export { isHandshake, serveHandshakes } from './websocket/upgrades.js';
export { WebSockets } from './websocket/web-sockets.js';
export { TranslationThread } from './translation-queue.js';
