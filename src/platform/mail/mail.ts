import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import { join } from 'node:path';
import { VIEWS } from '../config/index.js';
import { AppError } from '../shared/index.js';
import { loadTemplates } from '../templates/index.js';

/** A message to one person, in both forms. */
export interface Mail {
  /** One address without a name; nothing in it is taken for a list. */
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** What stands in a header must not be able to begin another one. */
const ONE_LINE = /^[^\p{Cc}\u2028\u2029]+$/u;
const ONE_ADDRESS = /^[^\s\p{Cc}<>,;:"()[\]\\]+@[^\s\p{Cc}<>,;:"()[\]\\@]+$/u;

/** @throws AppError when a header of it could hold more than it says */
export function checkMail({ to, subject }: Mail): void {
  if (!ONE_ADDRESS.test(to)) throw new AppError('internal', 'Invalid recipient address.');
  if (!ONE_LINE.test(subject)) throw new AppError('internal', 'The email subject contains a line break.');
}

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

/** The templates of `views/mail/`, compiled at the start. */
@Injectable()
export class MailTemplates {
  private readonly templates = loadTemplates(Handlebars.create(), join(VIEWS, 'mail'));

  /** One message as HTML and as plain text. */
  message(data: Readonly<Record<string, unknown>>): { readonly html: string; readonly text: string } {
    return { html: this.fill('message', data), text: this.fill('message.text', data) };
  }

  private fill(name: string, data: Readonly<Record<string, unknown>>): string {
    const template = this.templates.get(name);
    if (template === undefined) throw new Error(`There is no template views/mail/${name}.hbs.`);
    return template(data);
  }
}
