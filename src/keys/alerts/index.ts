// Emails to users when a threshold is crossed or a key is used unusually, once per occasion. Reads wallets, keys and
// budgets in the background; writes only which alerts were sent.
export { type AccountNotice, AccountNotices, type NoticeKind, type AccountNoticeText } from './account-notices.js';
export { AlertsModule } from './alerts.module.js';
export { AlertBook } from './alert-book.js';
export { AlertTimings } from './alert-timings.js';
export { AlertWatch } from './alert-watch.js';
export { KeyNoticeMails } from './key-notice-mails.js';
export { ThresholdWatch } from './threshold-watch.js';
export { AlertPreferences } from './alert-preferences.js';
export { type AlertSettings } from './alert-settings.js';
