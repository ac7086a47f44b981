// Organizations: accounts with a wallet that several users share. Members with roles, teams, budgets of both,
// invitations, and the bill by member. Calls count in these budgets at admission and settlement (relay/billing).
export { MAX_MEMBER_KEYS, type Member, type MemberDefaults, NotPermitted, type Organization } from './organization.js';
export { ORGANIZATION_NAME, OwnerStays, type OwnOrganization, type Team, type TeamLimits } from './organization.js';
export type { ActingMember } from './organization-changes.js';
export { Organizations } from './organizations.service.js';
export {
  ASSIGNABLE_ROLES,
  type AssignableRole,
  type KeysOfLeaver,
  type MemberChange,
  Members,
} from './members.service.js';
export { type MemberFilter, type MemberName, MembersReader } from './members-reader.js';
export { MemberWriter } from './member-writer.js';
export { type ListedOrganization, OrganizationDirectory, type OrganizationFilter } from './organization-directory.js';
export { OrganizationImport } from './organization-import.js';
export { type TeamSettings, Teams } from './teams.service.js';
export { InvitationGone, type MemberInvitation, MemberInvitations } from './member-invitations.js';
export { type Bill, type BillPart, OrganizationBills } from './organization-bills.js';
export { OrganizationsModule } from './organizations.module.js';
