// Emails to users when a threshold is crossed or a key is used unusually, once per occasion. Reads wallets, keys and
// budgets in the background; writes only which alerts were sent.
export {
  type AccountNotice,
  AccountNotices,
  type AccountNoticeText,
  AlertPreferences,
  type AlertSettings,
  type NoticeKind,
} from './account-notices.js';
export { AlertsModule, AlertWatch, ThresholdWatch } from './alert-watch.js';
export { AlertQueue } from './alert-sender.js';
export { AlertTimings } from './alert.js';
export { KeyNoticeMails } from './alert-mails.js';
