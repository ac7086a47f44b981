// The pages of one's account: sign-in, password, sessions, two-factor authentication, preferences.
export { AccountPagesModule } from './account-pages.module.js';
export { sessionViews } from './account.controller.js';
