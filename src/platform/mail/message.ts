import type { Mail } from './mail.js';

/**
 * A mail as nodemailer takes it. The address is given apart from a name, so that it is never parsed; no file and no
 * address that stands in the content is ever opened.
 */
export const messageOf = ({ to, subject, html, text }: Mail, from: string) => ({
  from,
  to: { name: '', address: to },
  subject,
  html,
  text,
  // No out-of-office note is to answer it.
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});
