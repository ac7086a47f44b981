// The pages of organizations: a user's own ones and invitations, spending, members, teams, settings.
export { OrganizationPagesModule } from './organization-pages.module.js';
