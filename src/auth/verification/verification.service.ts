import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { Config } from '../../platform/config/index.js';
import { Clock, networkOf, newId } from '../../platform/shared/index.js';
import { alikeForm } from '../email-address.js';
import { AccountMails } from '../mails/account-mails.js';
import { Throttle } from '../throttle/throttle.js';
import {
  type AddressPurpose,
  CodeRefused,
  hashCode,
  hashToken,
  lifetimeMs,
  LinkRefused,
  type VerificationSecret,
  newVerificationSecret,
  MAX_ATTEMPTS,
  type Purpose,
  RESEND_AFTER_MS,
  ResendTooSoon,
  parseCode,
  type Verification,
} from './verification.js';
import { type NewVerification, VerificationRepository, type VerificationRow } from './verification.repository.js';

/** Separates this key from others derived from SECRET_KEY. */
const KEY_PURPOSE = 'switchboard mailed codes v1';

/** The address to be verified, and for whom. */
interface IssueOptions {
  readonly purpose: Purpose;
  readonly subject: string;
  readonly email: string;
  /** A decoy that verifies nothing. */
  readonly hopeless?: boolean;
}

/** A verification that was not used yet. */
export type StoredVerification = VerificationRow;

/** The target of an emailed link. */
export interface OpenedLink {
  readonly verification: StoredVerification;
  readonly state: 'open' | 'expired' | 'used';
}

/**
 * Codes and links that verify an email address, each usable once and for a short time, across all processes. Callers
 * send them and act on the result.
 */
@Injectable()
export class Verifications {
  private readonly key: Buffer;

  constructor(
    private readonly verifications: VerificationRepository,
    private readonly clock: Clock,
    config: Config,
  ) {
    this.key = Buffer.from(hkdfSync('sha256', config.secretKey.reveal(), '', KEY_PURPOSE, 32));
  }

  /**
   * Issues a code and a link, which replace earlier ones.
   * @throws ResendTooSoon when the previous email went to the same address within a minute
   */
  async issue({ purpose, subject, email, hopeless = false }: IssueOptions): Promise<VerificationSecret> {
    const now = this.clock.now();
    const id = newId('ver', now);
    const proof = newVerificationSecret(purpose);
    const codeHash = proof.code === undefined || hopeless ? null : hashCode(proof.code, id, this.key);
    const [sentAt, expiresAt] = [new Date(now), new Date(now + lifetimeMs(purpose))];
    // A decoy stores the hash of an unknown token, so that its link is never found.
    const tokenHash = tokenHashOf(hopeless ? newVerificationSecret(purpose).token : proof.token);
    const row = { id, purpose, subject, email, codeHash, tokenHash, sentAt, expiresAt };
    if (!(await this.verifications.issue(row, new Date(now - RESEND_AFTER_MS)))) throw await this.sentJustNow(row);
    if (Math.random() < 1 / 64) await this.verifications.clear(sentAt);
    return proof;
  }

  /** The last one sent; undefined: none. */
  sent(purpose: Purpose, subject: string): Promise<Verification | undefined> {
    return this.verifications.find(purpose, subject);
  }

  /**
   * Finds the verification of a typed code and counts the attempt; it is not used up yet.
   * @throws CodeRefused
   */
  async byCode(purpose: Purpose, subject: string, typed: string): Promise<VerificationRow> {
    const code = parseCode(typed);
    if (code === undefined) throw CodeRefused.malformed();
    const claimed = await this.verifications.claimAttempt(purpose, subject, this.clock.date());
    if (claimed === undefined) throw await this.refusal(purpose, subject);
    const { id, codeHash } = claimed;
    if (codeHash === null || !timingSafeEqual(codeHash, hashCode(code, id, this.key))) throw CodeRefused.wrong();
    return claimed;
  }

  /** The link of a token, used or not; undefined if unknown or replaced. */
  async byToken(token: string): Promise<OpenedLink | undefined> {
    const tokenHash = hashToken(token);
    const verification = tokenHash && (await this.verifications.byToken(tokenHash));
    if (verification === undefined) return undefined;
    if (verification.usedAt !== null) return { verification, state: 'used' };
    return { verification, state: verification.expiresAt > this.clock.date() ? 'open' : 'expired' };
  }

  /** Uses it up in the transaction that applies it. @throws LinkRefused when it was used meanwhile */
  async use(verification: VerificationRow, manager: EntityManager): Promise<void> {
    if (!(await this.verifications.use(verification, this.clock.date(), manager))) throw new LinkRefused();
  }

  /** Invalidates all unused verifications of an account. */
  withdraw(subject: string, manager: EntityManager): Promise<void> {
    return this.verifications.withdraw(subject, manager);
  }

  /** When the next email may be requested. */
  resendAt = ({ sentAt }: Verification): Date => new Date(sentAt.getTime() + RESEND_AFTER_MS);

  private async refusal(purpose: Purpose, subject: string): Promise<CodeRefused> {
    const last = await this.verifications.find(purpose, subject);
    return last && last.attempts >= MAX_ATTEMPTS && last.usedAt === null
      ? CodeRefused.tooOften()
      : CodeRefused.expired();
  }

  private async sentJustNow({ purpose, subject, sentAt }: NewVerification): Promise<ResendTooSoon> {
    const last = await this.verifications.find(purpose, subject);
    const waitMs = last ? this.resendAt(last).getTime() - sentAt.getTime() : 0;
    return new ResendTooSoon(Math.max(1, Math.ceil(waitMs / 1000)));
  }
}

function tokenHashOf(token: string): Buffer {
  const tokenHash = hashToken(token);
  if (tokenHash === undefined) throw new TypeError('Created an invalid token.');
  return tokenHash;
}

export interface VerificationMail {
  readonly purpose: AddressPurpose;
  /** ID of the account or the registration. */
  readonly subject: string;
  readonly email: string;
  /** Another account has the address: its owner is notified, and the requester sees no difference. */
  readonly taken?: boolean;
}

interface ProofRequest extends VerificationMail {
  /** Client address. */
  readonly ip: string;
}

/** Emails codes and links, with limits per address and per requesting network. */
@Injectable()
export class VerificationMailer {
  constructor(
    private readonly throttle: Throttle,
    private readonly verifications: Verifications,
    private readonly mails: AccountMails,
  ) {}

  /** @throws TooManyAttempts, ResendTooSoon */
  async send({ ip, ...mail }: ProofRequest): Promise<void> {
    await this.spend(mail.email, ip);
    try {
      await this.mail(mail);
    } catch (error) {
      if (error instanceof ResendTooSoon) await this.giveBack(mail.email, ip);
      throw error;
    }
  }

  /** Counts a requested email. @throws TooManyAttempts */
  async spend(email: string, ip: string): Promise<void> {
    await this.throttle.spend('mail-from-network', networkOf(ip));
    await this.throttle.spend('mail-to-address', alikeForm(email));
  }

  /** Sends it without counting. @throws ResendTooSoon */
  async mail({ purpose, subject, email, taken = false }: VerificationMail): Promise<void> {
    const proof = await this.verifications.issue({ purpose, subject, email, hopeless: taken });
    if (!taken) this.mails.sendVerification(purpose, email, proof);
    else if (purpose === 'register') this.mails.sendAlreadyRegistered(email);
    else this.mails.sendAddressTaken(email);
  }

  private async giveBack(email: string, ip: string): Promise<void> {
    await this.throttle.giveBack('mail-from-network', networkOf(ip));
    await this.throttle.giveBack('mail-to-address', alikeForm(email));
  }
}
