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
import { StoredAnswersModule } from './stored-responses/index.js';
import { TokensModule } from '../protocols/tokens/index.js';
import { UsageModule } from '../usage/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { Admissions } from './admissions.js';
import { AnswerMemory } from './answer-memory.js';
import { Attempts } from './attempts.js';
import { BareAddressController } from './bare-address.controller.js';
import { Bodies } from './bodies.js';
import { BodyBudget } from './body-budget.js';
import { CallGuard } from './call.guard.js';
import { CallLimits } from './call-limits.js';
import { ChannelProbe } from './channel-probe.js';
import { UpstreamQuestions } from './upstream-questions.js';
import { DryAdmissions } from './dry-admission.js';
import { DryRun } from './dry-run.js';
import { Exchange } from './exchange.js';
import { Failover } from './failover.js';
import { DialectChoices } from './dialect-choices.js';
import { KeptAnswers } from './kept-answers.js';
import { LoadShedding } from './load-shedding.js';
import { ModelAccess } from './model-access.js';
import { HolderController } from './holder.controller.js';
import { ModelsController } from './models.controller.js';
import { HealthController } from './health.controller.js';
import { ReasoningSeal } from './reasoning-seal.js';
import { PromptCounts } from './prompt-counts.js';
import { RelayMetrics } from './relay-metrics.js';
import { RequestLimitGuard } from './prompt-route.js';
import { RelayTimings } from './relay-timings.js';
import { RelayService } from './relay.service.js';
import { Replies } from './replies.js';
import { Revocations } from './revocations.js';
import { RunState } from './run-state.js';
import { SharedMemory } from './shared-memory.js';
import { StateAccess } from './state-access.js';
import { StrayController, StrayGuard } from './stray.controller.js';
import { TranslationQueue, TranslationThread } from './translation-queue.js';
import { Translations } from './translations.js';
import { Turns } from './turns.js';
import { UpstreamPromptCounts } from './upstream-prompt-counts.js';

@Module({
  imports: [
    DiscoveryModule,
    StoredAnswersModule,
    CatalogModule,
    KeysModule,
    MetricsModule,
    LimitsModule,
    RoutingModule,
    BillingModule,
    TokensModule,
    UsageModule,
  ],
  controllers: [ModelsController, HolderController, BareAddressController, HealthController, StrayController],
  providers: [
    AdapterRegistry,
    Admissions,
    AnswerMemory,
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
    DialectChoices,
    KeptAnswers,
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
    StrayGuard,
    TranslationQueue,
    Translations,
    TranslationThread,
    Turns,
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
    DialectChoices,
    DryRun,
    KeptAnswers,
    KeysModule,
    LoadShedding,
    PromptCounts,
    RelayService,
    RoutingModule,
    RunState,
  ],
})
export class RelayModule {}
