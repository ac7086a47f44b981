// Mail: handing messages to an SMTP server, or to a folder when there is none. Does not own what they say, nor to whom:
// whoever has something to tell writes it.
export type { Mail } from './mail.js';
export type { Delivery } from './mail-transport.js';
export { MailModule } from './mail.module.js';
export { Mailer, type Offered } from './mailer.js';
export { MailTemplates } from './mail-templates.js';
