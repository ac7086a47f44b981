// The pages of organizations: a user's own ones and invitations, spending, members, teams, settings.
export { OrganizationPagesModule } from './organization-pages.module.js';
export { InviteForm, keysOf, RemoveForm, MemberRoleForm } from './organization-forms.js';
export { budgetRows, choiceOf, memberRow, NO_TEAM, restrictionsOf, ROLE_OPTIONS } from './organization.view.js';
