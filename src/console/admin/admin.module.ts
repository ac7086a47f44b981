import { Module } from '@nestjs/common';
import { ChannelsModule } from '../../catalog/channels/index.js';
import { CatalogModule } from '../../catalog/index.js';
import { KeysModule } from '../../keys/index.js';
import { OnboardingModule } from '../../keys/onboarding/index.js';
import { OrganizationsModule } from '../../keys/organizations/index.js';
import { LimitsModule } from '../../platform/limits/index.js';
import { MailModule } from '../../platform/mail/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { RelayModule } from '../../relay/index.js';
import { UsageModule } from '../../usage/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule } from '../access/index.js';
import { KeyPagesModule } from '../keys/index.js';
import { UsagePagesModule } from '../usage/index.js';
import { AuditController, AuditCsv, AuditPages } from './audit/audit.controller.js';
import { CallsController, CallsCsv, CallsPages } from './calls/calls.controller.js';
import { ChannelActions } from './channels/channel-actions.js';
import { ChannelFiguresReader } from './channels/channel-figures.js';
import { ChannelFormPages } from './channels/channel-form.pages.js';
import { ChannelListPages } from './channels/channel-list.pages.js';
import { ChannelStates } from './channels/channel-state.js';
import { ChannelBackground, ChannelQuestions, ChannelView } from './channels/channel-view.js';
import { ChannelWriter } from './channels/channel-writer.js';
import { ChannelController, ChannelDeletePages, ChannelsController } from './channels/channels.controller.js';
import { CodeBatchPages } from './codes/code-batch.pages.js';
import { CodeListPages } from './codes/code-list.pages.js';
import { CodesController } from './codes/codes.controller.js';
import { GroupFormPages } from './groups/group-form.pages.js';
import { GroupMembers, GroupPage } from './groups/group.page.js';
import { GroupListPages, GroupsController } from './groups/groups.controller.js';
import { AddModelsController } from './models/add-models.controller.js';
import { AddModelsPages } from './models/add-models.pages.js';
import { ModelFormPages } from './models/model-form.pages.js';
import { ModelMargins } from './models/model-margins.js';
import { ModelPage } from './models/model.page.js';
import { ModelComparePages, ModelListPages, AdminModelsController } from './models/models.controller.js';
import { ProviderModels } from './models/provider-models.js';
import { ChannelsCard } from './overview/channels-card.js';
import { AdminOrganizationController, OrganizationDeleteController } from './organizations/organization.controller.js';
import {
  OrganizationMemberPages,
  OrganizationMembersController,
} from './organizations/organization-members.controller.js';
import { OrganizationDeletePages, OrganizationPages, OrganizationPeople } from './organizations/organization.pages.js';
import {
  OrganizationListPages,
  OrganizationNewPages,
  AdminOrganizationsController,
} from './organizations/organizations.controller.js';
import { OverviewReader, Troubles } from './overview/overview-reader.js';
import { OverviewController, OverviewPages } from './overview/overview.controller.js';
import { SetupReader } from './overview/setup-steps.js';
import { PaymentListPages, PaymentProblemPages, PaymentProblemsController } from './payments/payments.controller.js';
import { RoutingController, RoutingPages } from './routing/routing.controller.js';
import { SettingPagesModule } from './settings/settings.controller.js';
import { InvitationListPages, InvitationsController } from './users/invitations.controller.js';
import { UserKeysController, UserKeyPages, UserKeyQuotaPages } from './users/user-keys.controller.js';
import { UserChanges } from './users/user-changes.js';
import { UserDirectory } from './users/user-directory.js';
import { UserChoices, UserFacts, UserLists } from './users/user-facts.js';
import { UserAllowancePages, UserBalancePages, UserMoneyController } from './users/user-money.controller.js';
import { UserController, UserDeletePages, UserSecondFactorPages } from './users/user.controller.js';
import { UserPages } from './users/user.pages.js';
import { UserListPages, UserNewPages, UsersController } from './users/users.controller.js';

@Module({ imports: [AccessModule, UsageModule], controllers: [AuditController], providers: [AuditCsv, AuditPages] })
class AuditPagesModule {}

@Module({
  imports: [AccessModule, CatalogModule, RelayModule, UsagePagesModule],
  controllers: [CallsController],
  providers: [CallsCsv, CallsPages],
})
class CallPagesModule {}

@Module({
  imports: [AccessModule, WalletModule],
  controllers: [CodesController],
  providers: [CodeBatchPages, CodeListPages],
})
class CodePagesModule {}

@Module({
  imports: [AccessModule, ChannelsModule, RelayModule],
  controllers: [GroupsController],
  providers: [GroupFormPages, GroupListPages, GroupMembers, GroupPage],
})
class GroupPagesModule {}

@Module({
  imports: [AccessModule, CatalogModule, ChannelsModule, RelayModule, UsageModule],
  // Its path comes before that of all models.
  controllers: [AddModelsController, AdminModelsController],
  providers: [
    AddModelsPages,
    ModelComparePages,
    ModelFormPages,
    ModelListPages,
    ModelMargins,
    ModelPage,
    ProviderModels,
  ],
})
class ModelPagesModule {}

/** Channel pages: state, editing by the rules of the catalog file, and upstream checks. */
@Module({
  imports: [AccessModule, CatalogModule, ChannelsModule, RelayModule, UsageModule],
  controllers: [ChannelsController, ChannelController],
  providers: [
    ChannelActions,
    ChannelBackground,
    ChannelDeletePages,
    ChannelFiguresReader,
    ChannelFormPages,
    ChannelListPages,
    ChannelQuestions,
    ChannelStates,
    ChannelView,
    ChannelWriter,
  ],
  exports: [ChannelFiguresReader, ChannelStates],
})
class ChannelPagesModule {}

@Module({
  imports: [
    AccessModule,
    CatalogModule,
    ChannelPagesModule,
    ChannelsModule,
    LimitsModule,
    MailModule,
    SettingsModule,
    UsageModule,
  ],
  controllers: [OverviewController],
  providers: [ChannelsCard, OverviewPages, OverviewReader, SetupReader, Troubles],
})
class OverviewPagesModule {}

@Module({
  imports: [AccessModule, WalletModule],
  controllers: [PaymentProblemsController],
  providers: [PaymentListPages, PaymentProblemPages],
})
class PaymentPagesModule {}

@Module({
  imports: [AccessModule, CatalogModule, KeysModule, RelayModule],
  controllers: [RoutingController],
  providers: [RoutingPages],
})
class RoutingPagesModule {}

/** Users and organizations, whose wallets and keys have the same pages. */
@Module({
  imports: [
    AccessModule,
    CatalogModule,
    KeyPagesModule,
    KeysModule,
    OnboardingModule,
    OrganizationsModule,
    UsageModule,
    WalletModule,
  ],
  controllers: [
    UsersController,
    InvitationsController,
    UserController,
    AdminOrganizationsController,
    AdminOrganizationController,
    OrganizationDeleteController,
    OrganizationMembersController,
    // Of users and organizations.
    UserMoneyController,
    UserKeysController,
  ],
  providers: [
    InvitationListPages,
    OrganizationDeletePages,
    OrganizationListPages,
    OrganizationMemberPages,
    OrganizationNewPages,
    OrganizationPages,
    OrganizationPeople,
    UserAllowancePages,
    UserBalancePages,
    UserChanges,
    UserChoices,
    UserDeletePages,
    UserDirectory,
    UserFacts,
    UserKeyPages,
    UserKeyQuotaPages,
    UserListPages,
    UserLists,
    UserNewPages,
    UserPages,
    UserSecondFactorPages,
  ],
})
class UserPagesModule {}

/** Each folder is a separate module; they refer to each other by URL only. */
@Module({
  imports: [
    AuditPagesModule,
    CallPagesModule,
    ChannelPagesModule,
    CodePagesModule,
    GroupPagesModule,
    ModelPagesModule,
    OverviewPagesModule,
    PaymentPagesModule,
    RoutingPagesModule,
    SettingPagesModule,
    UserPagesModule,
  ],
})
export class AdminModule {}
