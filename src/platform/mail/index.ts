// Email delivery through SMTP, or into a folder when no server is configured. The modules that send an email write its
// text.
export { type Delivery, type Mail, MailTemplates } from './mail.js';
export { Mailer, MailModule, type DeliveryOutcome } from './mailer.js';
