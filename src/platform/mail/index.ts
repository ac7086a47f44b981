// Email delivery through SMTP, or into a folder when no server is configured. The modules that send an email write its
// text.
export { type Mail, MailTemplates } from './mail.js';
export type { Delivery } from './mail-transport.js';
export { Mailer, MailModule, type Offered } from './mailer.js';
