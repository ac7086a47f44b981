// The pages of one's account: sign-in, password, sessions, two-factor authentication, alerts, preferences.
export { AccountPagesModule, sessionViews } from './account.controller.js';
