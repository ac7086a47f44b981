import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import { join } from 'node:path';
import { VIEWS } from '../config/index.js';
import { AppError } from '../shared/index.js';
import { loadTemplates } from '../templates/index.js';

/** A message to one recipient, as HTML and text. */
export interface Mail {
  /** One address without a display name; never parsed as a list. */
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** Header values must not contain line breaks, which would start another header. */
const ONE_LINE = /^[^\p{Cc}\u2028\u2029]+$/u;
const ONE_ADDRESS = /^[^\s\p{Cc}<>,;:"()[\]\\]+@[^\s\p{Cc}<>,;:"()[\]\\@]+$/u;

/** @throws AppError if the recipient or the subject contains line breaks */
export function checkMail({ to, subject }: Mail): void {
  if (!ONE_ADDRESS.test(to)) throw new AppError('internal', 'Invalid recipient address.');
  if (!ONE_LINE.test(subject)) throw new AppError('internal', 'The email subject contains a line break.');
}

/**
 * A message for nodemailer. The address is passed as an object, so that it is never parsed; files and URLs in content
 * are never opened.
 */
export const messageOf = ({ to, subject, html, text }: Mail, from: string) => ({
  from,
  to: { name: '', address: to },
  subject,
  html,
  text,
  // Suppresses automatic replies.
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** The templates of `views/mail/`, compiled at start. */
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
