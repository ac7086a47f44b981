import { Module } from '@nestjs/common';
import { AuditPagesModule } from './audit/audit-pages.module.js';
import { CallPagesModule } from './calls/call-pages.module.js';
import { ChannelPagesModule } from './channels/channel-pages.module.js';
import { CodePagesModule } from './codes/code-pages.module.js';
import { GroupPagesModule } from './groups/group-pages.module.js';
import { ModelPagesModule } from './models/model-pages.module.js';
import { OverviewPagesModule } from './overview/overview-pages.module.js';
import { PaymentPagesModule } from './payments/payment-pages.module.js';
import { RoutingPagesModule } from './routing/routing-pages.module.js';
import { SettingPagesModule } from './settings/setting-pages.module.js';
import { UserPagesModule } from './users/user-pages.module.js';

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
