import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { UsageModule } from '../../usage/index.js';
import { WalletModule } from '../../wallet/index.js';
import { KeysModule } from '../index.js';
import { OnboardingModule } from '../onboarding/index.js';
import { InvitationMailer, MemberInvitations } from './member-invitations.js';
import { MemberWriter } from './member-writer.js';
import { MembersReader } from './members-reader.js';
import { MemberLimitChanges, Members } from './members.service.js';
import { OrganizationBills } from './organization-bills.js';
import { OrganizationChanges } from './organization-changes.js';
import { OrganizationDirectory } from './organization-directory.js';
import { ImportedMembers, OrganizationImport } from './organization-import.js';
import { Organizations } from './organizations.service.js';
import { Teams, TeamWriter } from './teams.service.js';

@Module({
  imports: [AuthModule, KeysModule, OnboardingModule, SettingsModule, UsageModule, WalletModule],
  providers: [
    ImportedMembers,
    InvitationMailer,
    MemberInvitations,
    MemberLimitChanges,
    Members,
    MembersReader,
    MemberWriter,
    OrganizationBills,
    OrganizationChanges,
    OrganizationDirectory,
    OrganizationImport,
    Organizations,
    Teams,
    TeamWriter,
  ],
  exports: [
    MemberInvitations,
    Members,
    MembersReader,
    MemberWriter,
    OrganizationBills,
    OrganizationDirectory,
    OrganizationImport,
    Organizations,
    Teams,
  ],
})
export class OrganizationsModule {}
