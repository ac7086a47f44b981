import { Module, type OnModuleInit } from '@nestjs/common';
import { CatalogModule } from '../../catalog/index.js';
import { OnboardingModule } from '../../keys/onboarding/index.js';
import { MemberInvitations, OrganizationsModule } from '../../keys/organizations/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule } from '../access/index.js';
import { LayoutParts } from '../web/index.js';
import { MemberController, MemberListPages, MembersController } from './members.controller.js';
import { OrganizationOverviewController, OrganizationSettingsController } from './organization.controller.js';
import { JoinController, OwnOrganizationsController } from './organizations.controller.js';
import { TeamsController } from './teams.controller.js';

@Module({
  imports: [AccessModule, CatalogModule, OnboardingModule, OrganizationsModule, WalletModule],
  controllers: [
    OwnOrganizationsController,
    JoinController,
    OrganizationOverviewController,
    OrganizationSettingsController,
    MembersController,
    MemberController,
    TeamsController,
  ],
  providers: [MemberListPages],
})
export class OrganizationPagesModule implements OnModuleInit {
  constructor(
    private readonly layout: LayoutParts,
    private readonly invitations: MemberInvitations,
  ) {}

  /** Every page reminds users of an invitation, so that it is not lost by signing up first. */
  onModuleInit(): void {
    this.layout.add(async (visitor) => {
      const [invitation] = await this.invitations.waitingFor(visitor);
      if (invitation === undefined) return {};
      const title = `You are invited to ${invitation.organization}`;
      return { notices: [{ tone: 'warn', title, action: { href: '/organizations', label: 'View invitation' } }] };
    });
  }
}
