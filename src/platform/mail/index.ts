// Email delivery through SMTP, or into a folder when no server is configured. The modules that send an email write its
// text.
export type { Mail } from './mail.js';
export type { Delivery } from './mail-transport.js';
export { MailModule } from './mail.module.js';
export { Mailer, type Offered } from './mailer.js';
export { MailTemplates } from './mail-templates.js';
