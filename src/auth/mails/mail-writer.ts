import { Injectable } from '@nestjs/common';
import { type Mail, MailTemplates } from '../../platform/mail/index.js';
import { Settings } from '../../platform/settings/index.js';
import { BaseAddress } from '../../platform/config/index.js';
import type { Wording } from './mail-text.js';

/** A mail's own part: the link of its button, below our address, and its code. */
export interface MailFilling {
  readonly path?: string;
  readonly code?: string | undefined;
}

/** Puts words into both forms of a mail. Links are made of the configured address, never of what a request says. */
@Injectable()
export class MailWriter {
  constructor(
    private readonly templates: MailTemplates,
    private readonly address: BaseAddress,
    private readonly settings: Settings,
  ) {}

  write(to: string, wording: Wording, { path, code }: MailFilling = {}): Mail {
    const { name: product, supportContact } = this.settings.current().site;
    const said = wording(product);
    const { subject, action, foot, paragraphs, lifetime, manage } = said;
    const data = {
      ...said,
      product,
      button: action !== undefined && path !== undefined && { label: action, href: this.address.current() + path },
      code,
      preview: code === undefined ? paragraphs[0] : `Your code is ${code}. ${lifetime}`,
      manage: manage && { label: manage.label, href: this.address.current() + manage.path },
      foot: [foot, ...(supportContact === undefined ? [] : [`Questions? ${supportContact}`])],
    };
    return { to, subject, ...this.templates.message(data) };
  }
}
