import { Injectable } from '@nestjs/common';
import { type Mail, Mailer } from '../../mail/index.js';
import { Settings } from '../../settings/index.js';
import { BaseAddress, ViewEngine } from '../../web/index.js';
import type { MailedProof, Purpose } from '../verification/verification.js';
import * as words from './mail-words.js';

/** Where the link of each kind of mail leads: a page that asks for a click. */
const LINK_PAGE: Readonly<Record<Purpose, string>> = {
  register: '/verify/link',
  confirm: '/verify/link',
  change: '/verify/link',
  reset: '/reset',
  invite: '/reset',
};

const WORDS: Readonly<Record<Purpose, words.Wording>> = {
  register: words.REGISTER,
  confirm: words.CONFIRM,
  change: words.CHANGE,
  reset: words.RESET,
  invite: words.INVITATION,
};

/** A mail's own part: the link of its button, below our address, and its code. */
interface Filling {
  readonly path?: string;
  readonly code?: string | undefined;
}

/** Writes the mails about accounts. Their links are made of the configured address, never of what a request says. */
@Injectable()
export class AccountMails {
  constructor(
    private readonly mailer: Mailer,
    private readonly views: ViewEngine,
    private readonly address: BaseAddress,
    private readonly settings: Settings,
  ) {}

  /** Sends what proves that the address is theirs who read its mail. */
  sendProof(purpose: Purpose, to: string, proof: MailedProof): void {
    this.mailer.send(this.proof(purpose, to, proof));
  }

  /** The same at once. @throws what the mail server said */
  async deliverProof(purpose: Purpose, to: string, proof: MailedProof): Promise<void> {
    await this.mailer.deliver(this.proof(purpose, to, proof));
  }

  sendAlreadyRegistered(to: string): void {
    this.mailer.send(this.compose(to, words.ALREADY_REGISTERED, { path: '/sign-in' }));
  }

  sendAddressTaken(to: string): void {
    this.mailer.send(this.compose(to, words.CHANGE_TO_TAKEN));
  }

  sendAddressChanged(to: string, newAddress: string): void {
    this.mailer.send(this.compose(to, words.CHANGED(newAddress)));
  }

  sendPasswordChanged(to: string): void {
    this.mailer.send(this.compose(to, words.PASSWORD_CHANGED, { path: '/forgot' }));
  }

  private proof(purpose: Purpose, to: string, { code, token }: MailedProof): Mail {
    const spaced = code && `${code.slice(0, 3)} ${code.slice(3)}`;
    return this.compose(to, WORDS[purpose], { path: `${LINK_PAGE[purpose]}?t=${token}`, code: spaced });
  }

  private compose(to: string, wording: words.Wording, { path, code }: Filling = {}): Mail {
    const { name: product, supportContact } = this.settings.current().site;
    const said = wording(product);
    const { subject, action, foot, paragraphs, lifetime } = said;
    const data = {
      ...said,
      product,
      button: action !== undefined && path !== undefined && { label: action, href: this.address.current() + path },
      code,
      preview: code === undefined ? paragraphs[0] : `Your code is ${code}. ${lifetime}`,
      foot: [foot, ...(supportContact === undefined ? [] : [`Questions? ${supportContact}`])],
    };
    const html = this.views.renderBare('mail/message', data);
    return { to, subject, html, text: this.views.renderText('mail/message.text', data) };
  }
}
