import { Injectable } from '@nestjs/common';
import { BaseAddress } from '../../platform/config/index.js';
import { type Mail, Mailer, MailTemplates } from '../../platform/mail/index.js';
import { Settings } from '../../platform/settings/index.js';
import type { AddressPurpose, Purpose, VerificationSecret } from '../verification/verification.js';
import * as mailTexts from './mail-text.js';
import type { MailTextBuilder } from './mail-text.js';

/** Link (relative to our address) and code of an email. */
interface MailFilling {
  readonly path?: string;
  readonly code?: string | undefined;
}

/** Renders emails as HTML and text. Links use the configured address, never one from a request. */
@Injectable()
export class MailWriter {
  constructor(
    private readonly renderer: MailTemplates,
    private readonly address: BaseAddress,
    private readonly settings: Settings,
  ) {}

  write(to: Mail['to'], buildText: MailTextBuilder, { path, code }: MailFilling = {}): Mail {
    const { name: product, supportContact } = this.settings.current().site;
    const text = buildText(product);
    const { subject, action, foot, paragraphs, lifetime, manage } = text;
    const data = {
      ...text,
      product,
      button: action !== undefined && path !== undefined && { label: action, href: this.address.current() + path },
      code,
      preview: code === undefined ? paragraphs[0] : `Your code is ${code}. ${lifetime}`,
      manage: manage && { label: manage.label, href: this.address.current() + manage.path },
      foot: [foot, ...(supportContact === undefined ? [] : [`Questions? ${supportContact}`])],
    };
    return { to, subject, ...this.renderer.message(data) };
  }
}

/** Pages that links lead to; each asks for a click. */
const LINK_PAGE: Readonly<Record<Purpose, string>> = {
  register: '/verify/link',
  confirm: '/verify/link',
  change: '/verify/link',
  reset: '/reset',
  invite: '/reset',
  join: '/join',
};

const PROOF_TEXTS: Readonly<Record<AddressPurpose, mailTexts.MailTextBuilder>> = {
  register: mailTexts.REGISTER,
  confirm: mailTexts.CONFIRM,
  change: mailTexts.CHANGE,
  reset: mailTexts.RESET,
  invite: mailTexts.INVITATION,
};

/** Sends emails about accounts. */
@Injectable()
export class AccountMails {
  constructor(
    private readonly mailer: Mailer,
    private readonly writer: MailWriter,
  ) {}

  /** Sends a code or link that verifies an address. */
  sendVerification(purpose: AddressPurpose, to: string, proof: VerificationSecret): void {
    this.mailer.send(this.proof(purpose, PROOF_TEXTS[purpose], to, proof));
  }

  /** Sends it now. @throws errors of the mail server */
  async deliverProof(purpose: AddressPurpose, to: string, proof: VerificationSecret): Promise<void> {
    await this.mailer.deliver(this.proof(purpose, PROOF_TEXTS[purpose], to, proof));
  }

  sendJoinInvitation(to: string, invitation: mailTexts.JoinInvitation, proof: VerificationSecret): void {
    this.mailer.send(this.proof('join', mailTexts.JOIN(invitation), to, proof));
  }

  sendAlreadyRegistered(to: string): void {
    this.mailer.send(this.writer.write(to, mailTexts.ALREADY_REGISTERED, { path: '/sign-in' }));
  }

  sendAddressTaken(to: string): void {
    this.mailer.send(this.writer.write(to, mailTexts.CHANGE_TO_TAKEN));
  }

  sendAddressChanged(to: string, newAddress: string): void {
    this.mailer.send(this.writer.write(to, mailTexts.CHANGED(newAddress)));
  }

  sendPasswordChanged(to: string): void {
    this.mailer.send(this.writer.write(to, mailTexts.PASSWORD_CHANGED, { path: '/forgot' }));
  }

  sendSignInLinked(to: string, provider: string): void {
    this.mailer.send(this.writer.write(to, mailTexts.SIGN_IN_LINKED(provider), { path: '/account' }));
  }

  sendSignInUnlinked(to: string, provider: string): void {
    this.mailer.send(this.writer.write(to, mailTexts.SIGN_IN_UNLINKED(provider), { path: '/account' }));
  }

  sendAccountClosed(to: string): void {
    this.mailer.send(this.writer.write(to, mailTexts.ACCOUNT_CLOSED));
  }

  private proof(purpose: Purpose, text: MailTextBuilder, to: string, { code, token }: VerificationSecret): Mail {
    const spaced = code && `${code.slice(0, 3)} ${code.slice(3)}`;
    return this.writer.write(to, text, { path: `${LINK_PAGE[purpose]}?t=${token}`, code: spaced });
  }
}
