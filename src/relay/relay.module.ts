import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CatalogModule } from '../catalog/index.js';
import { KeysModule } from '../keys/index.js';
import { LimitsModule } from '../platform/limits/index.js';
import { MetricsModule } from '../platform/metrics/index.js';
import * as protocolModules from '../protocols/index.js';
import { TokensModule } from '../protocols/tokens/index.js';
import { UsageModule } from '../usage/index.js';
import { AdapterRegistry, adaptersIn } from './adapter.registry.js';
import { AdmissionControl, ModelAccess } from './admission-control.js';
import { apiControllers, ModelsController } from './api-controllers.js';
import { BillingModule } from './billing/index.js';
import { BackgroundRuns } from './background-run.js';
import { Bodies } from './bodies.js';
import { BodyBudget } from './body-budget.js';
import { CallLimits } from './call-limits.js';
import { CallGuard, LoadShedding } from './call.guard.js';
import { ChannelProbe, ChannelChecks } from './channel-checks.js';
import { AdmissionDryRun, DryRun } from './dry-run.js';
import { Exchange } from './exchange.js';
import { Attempts, Failover } from './failover.js';
import { BaseUrlController, FallbackController, FallbackGuard } from './fallback.controller.js';
import { HealthController } from './health.controller.js';
import { KeyInfoController } from './key-info.controller.js';
import { ProtocolDetection } from './protocol-detection.js';
import { PromptCounts, RequestLimitGuard, UpstreamPromptCounts } from './prompt-counts.js';
import { ReasoningSeal } from './reasoning-seal.js';
import { RelayTimings } from './relay-timings.js';
import { RelayService } from './relay.service.js';
import { RelayMetrics, Replies } from './replies.js';
import { ResponseStore } from './response-store.js';
import { Revocations } from './revocations.js';
import { RoutingModule } from './routing/index.js';
import { RunState } from './run-state.js';
import { SessionCalls } from './session-calls.js';
import { SharedMemory } from './shared-response.js';
import { StateAccess } from './state-access.js';
import { ConversationsController } from './conversations.controller.js';
import { StoredResponsesController } from './stored-responses.controller.js';
import { StoredResponsesModule } from './stored-responses/index.js';
import { TimeSlicer } from './translation-job.js';
import { TranslationQueue, TranslationThread } from './translation-queue.js';
import { TranslationService } from './translation.service.js';
import { SocketAdmission, SocketCalls } from './websocket/socket-calls.js';
import { SocketGuard } from './websocket/socket.controller.js';
import { WebSockets } from './websocket/web-sockets.js';
import { TracingModule } from './tracing/tracing.js';
import { GoogleTokens } from './upstream/google-tokens.js';
import { UpstreamClient } from './upstream/upstream-client.js';
import { UpstreamPools } from './upstream/upstream-pools.js';
import { UpstreamSockets } from './upstream/upstream-sockets.js';

@Module({
  imports: [
    DiscoveryModule,
    StoredResponsesModule,
    CatalogModule,
    KeysModule,
    MetricsModule,
    LimitsModule,
    RoutingModule,
    BillingModule,
    TokensModule,
    TracingModule,
    UsageModule,
  ],
  controllers: [
    ModelsController,
    KeyInfoController,
    StoredResponsesController,
    ConversationsController,
    BaseUrlController,
    HealthController,
    FallbackController,
  ],
  providers: [
    AdapterRegistry,
    AdmissionControl,
    ResponseStore,
    Attempts,
    Bodies,
    BackgroundRuns,
    BodyBudget,
    CallGuard,
    CallLimits,
    ChannelProbe,
    ChannelChecks,
    AdmissionDryRun,
    DryRun,
    Exchange,
    Failover,
    GoogleTokens,
    ProtocolDetection,
    LoadShedding,
    ModelAccess,
    ReasoningSeal,
    RequestLimitGuard,
    PromptCounts,
    RelayMetrics,
    RelayService,
    RelayTimings,
    Replies,
    Revocations,
    RunState,
    SessionCalls,
    SharedMemory,
    SocketAdmission,
    SocketCalls,
    SocketGuard,
    StateAccess,
    FallbackGuard,
    TranslationQueue,
    TranslationService,
    TranslationThread,
    TimeSlicer,
    UpstreamPromptCounts,
    UpstreamClient,
    UpstreamPools,
    UpstreamSockets,
    WebSockets,
  ],
  exports: [
    AdapterRegistry,
    BillingModule,
    CallGuard,
    CallLimits,
    ChannelProbe,
    ChannelChecks,
    ProtocolDetection,
    DryRun,
    KeysModule,
    LoadShedding,
    ModelAccess,
    PromptCounts,
    RelayService,
    RoutingModule,
    RunState,
    SessionCalls,
    SocketGuard,
    WebSockets,
  ],
})
export class RelayModule {}

const modules = Object.values(protocolModules);

/** All protocols with their endpoints. */
@Module({
  imports: [...modules, RelayModule],
  controllers: [...adaptersIn(modules).protocols.values()].flatMap(apiControllers),
  exports: [RelayModule],
})
export class ApiModule {}
