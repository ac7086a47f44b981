import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import { join } from 'node:path';
import { VIEWS } from '../config/index.js';
import { loadTemplates } from '../templates/index.js';

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
