// Mail to people about their own thresholds, once for each time that one is crossed, and about what happened to their
// keys, once for each occasion. Reads wallets, keys and budgets, in the background; writes nothing but what it has told.
// Does not own what pages say of the same, nor what operators are told.
export { type AccountNotice, AccountNotices, type NoticeKind, type AccountNoticeText } from './account-notices.js';
export { AlertsModule } from './alerts.module.js';
export { AlertBook } from './alert-book.js';
export { AlertTimings } from './alert-timings.js';
export { AlertWatch } from './alert-watch.js';
export { KeyNoticeMails } from './key-notice-mails.js';
export { ThresholdWatch } from './threshold-watch.js';
export { AlertPreferences } from './alert-preferences.js';
export { type AlertSettings } from './alert-settings.js';
