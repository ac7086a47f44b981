import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { BillingModule } from './billing/index.js';
import { CatalogModule } from '../catalog/index.js';
import { RoutingModule } from './routing/index.js';
import { UpstreamClient } from './upstream/upstream-client.js';
import { UpstreamPools } from './upstream/upstream-pools.js';
import { KeysModule } from '../keys/index.js';
import { MetricsModule } from '../platform/metrics/index.js';
import { LimitsModule } from '../platform/limits/index.js';
import { StoredResponsesModule } from './stored-responses/index.js';
import { TokensModule } from '../protocols/tokens/index.js';
import { UsageModule } from '../usage/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { Admissions } from './admissions.js';
import { ResponseStore } from './response-store.js';
import { Attempts } from './attempts.js';
import { BareAddressController, FallbackController, FallbackGuard } from './fallback.controller.js';
import { Bodies } from './bodies.js';
import { BodyBudget } from './body-budget.js';
import { CallGuard, LoadShedding } from './call.guard.js';
import { CallLimits } from './call-limits.js';
import { ChannelProbe, UpstreamQuestions } from './upstream-questions.js';
import { DryAdmissions, DryRun } from './dry-run.js';
import { Exchange } from './exchange.js';
import { Failover } from './failover.js';
import { ProtocolChoices } from './protocol-choices.js';
import { ResponseLookup } from './response-lookup.js';
import { ModelAccess } from './model-access.js';
import { KeyInfoController } from './key-info.controller.js';
import { ModelsController } from './models.controller.js';
import { HealthController } from './health.controller.js';
import { ReasoningSeal } from './reasoning-seal.js';
import { PromptCounts, RequestLimitGuard, UpstreamPromptCounts } from './prompt-counts.js';
import { RelayMetrics } from './relay-metrics.js';
import { RelayTimings } from './relay-timings.js';
import { RelayService } from './relay.service.js';
import { Replies } from './replies.js';
import { Revocations } from './revocations.js';
import { RunState } from './run-state.js';
import { SharedMemory } from './shared-response.js';
import { StateAccess } from './state-access.js';
import { TranslationQueue, TranslationThread } from './translation-queue.js';
import { Translations } from './translations.js';
import { TimeSlicer } from './time-slicer.js';

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
    UsageModule,
  ],
  controllers: [ModelsController, KeyInfoController, BareAddressController, HealthController, FallbackController],
  providers: [
    AdapterRegistry,
    Admissions,
    ResponseStore,
    Attempts,
    Bodies,
    BodyBudget,
    CallGuard,
    CallLimits,
    ChannelProbe,
    UpstreamQuestions,
    DryAdmissions,
    DryRun,
    Exchange,
    Failover,
    ProtocolChoices,
    ResponseLookup,
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
    SharedMemory,
    StateAccess,
    FallbackGuard,
    TranslationQueue,
    Translations,
    TranslationThread,
    TimeSlicer,
    UpstreamPromptCounts,
    UpstreamClient,
    UpstreamPools,
  ],
  exports: [
    AdapterRegistry,
    BillingModule,
    CallGuard,
    CallLimits,
    ChannelProbe,
    UpstreamQuestions,
    ProtocolChoices,
    DryRun,
    ResponseLookup,
    KeysModule,
    LoadShedding,
    PromptCounts,
    RelayService,
    RoutingModule,
    RunState,
  ],
})
export class RelayModule {}
