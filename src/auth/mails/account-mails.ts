import { Injectable } from '@nestjs/common';
import { type Mail, Mailer } from '../../platform/mail/index.js';
import type { MailedProof, Purpose } from '../verification/verification.js';
import * as words from './mail-text.js';
import { MailWriter } from './mail-writer.js';

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

/** Writes the mails about accounts. */
@Injectable()
export class AccountMails {
  constructor(
    private readonly mailer: Mailer,
    private readonly writer: MailWriter,
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
    this.mailer.send(this.writer.write(to, words.ALREADY_REGISTERED, { path: '/sign-in' }));
  }

  sendAddressTaken(to: string): void {
    this.mailer.send(this.writer.write(to, words.CHANGE_TO_TAKEN));
  }

  sendAddressChanged(to: string, newAddress: string): void {
    this.mailer.send(this.writer.write(to, words.CHANGED(newAddress)));
  }

  sendPasswordChanged(to: string): void {
    this.mailer.send(this.writer.write(to, words.PASSWORD_CHANGED, { path: '/forgot' }));
  }

  private proof(purpose: Purpose, to: string, { code, token }: MailedProof): Mail {
    const spaced = code && `${code.slice(0, 3)} ${code.slice(3)}`;
    return this.writer.write(to, WORDS[purpose], { path: `${LINK_PAGE[purpose]}?t=${token}`, code: spaced });
  }
}
