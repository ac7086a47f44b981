import { Injectable } from '@nestjs/common';
import {
  AccountService,
  InvalidAccount,
  LinkRefused,
  normalizeEmail,
  type OpenedLink,
  VerificationMailer,
  Throttle,
  type Verification,
  Verifications,
  type Visit,
  type Visitor,
} from '../../../auth/index.js';
import { networkOf } from '../../../platform/shared/index.js';
import { NothingPending, Registrations } from '../registration/registration.service.js';
import { SignUpRules } from '../registration/sign-up-rules.js';
import { Confirmations, type ConfirmedAddress } from './password-resets.js';

/** An email address that this browser has yet to verify. */
export interface Waiting {
  readonly purpose: 'register' | 'confirm';
  /** ID of the registration or the account. */
  readonly subject: string;
  readonly email: string;
  /** Undefined: no email was sent yet. */
  readonly sent: Verification | undefined;
}

/** Verifies email addresses by code or link, for new registrations and unverified users. */
@Injectable()
export class AddressProof {
  constructor(
    private readonly registrations: Registrations,
    private readonly verifications: Verifications,
    private readonly confirmations: Confirmations,
    private readonly proofs: VerificationMailer,
    private readonly throttle: Throttle,
  ) {}

  /** The address that this browser has to verify; undefined: none. */
  async waiting({ visitor, csrf }: Visit): Promise<Waiting | undefined> {
    if (visitor?.verified) return undefined;
    if (visitor) {
      const sent = await this.verifications.sent('confirm', visitor.accountId);
      return { purpose: 'confirm', subject: visitor.accountId, email: sent?.email ?? visitor.email, sent };
    }
    const pending = await this.registrations.pending(csrf);
    if (!pending) return undefined;
    const sent = await this.verifications.sent('register', pending.id);
    return { purpose: 'register', subject: pending.id, email: pending.email, sent };
  }

  /** @throws CodeRefused, NothingPending, LinkRefused, TooManyAttempts */
  async byCode(visit: Visit, code: string): Promise<ConfirmedAddress> {
    const waiting = await this.waiting(visit);
    if (!waiting) throw new NothingPending();
    return this.proved(visit, async () =>
      this.confirmations.confirm(await this.verifications.byCode(waiting.purpose, waiting.subject, code)),
    );
  }

  /** @throws NothingPending, ResendTooSoon, TooManyAttempts */
  async sendAgain(visit: Visit): Promise<void> {
    const waiting = await this.waiting(visit);
    if (!waiting) throw new NothingPending();
    const { purpose, subject, email } = waiting;
    if (purpose === 'register') await this.registrations.sendAgain(visit.csrf, visit.ip);
    else await this.proofs.send({ purpose, subject, email, ip: visit.ip });
  }

  /** The target of a link; undefined if it is no longer valid. */
  async link(token: string): Promise<OpenedLink | undefined> {
    const link = await this.verifications.byToken(token);
    return link === undefined || ['reset', 'invite', 'join'].includes(link.verification.purpose) ? undefined : link;
  }

  /** @throws LinkRefused, InvitationRefused, TooManyAttempts */
  async byLink(visit: Visit, token: string): Promise<ConfirmedAddress> {
    return this.proved(visit, async () => {
      const link = await this.link(token);
      if (link?.state !== 'open') throw new LinkRefused();
      return this.confirmations.confirm(link.verification);
    });
  }

  /**
   * Sends a new email for an expired link, to the same address. Changes of an account's address require its password,
   * so an old email is not enough.
   * @throws LinkRefused, ResendTooSoon, TooManyAttempts
   */
  async renew(visit: Visit, token: string): Promise<void> {
    const link = await this.link(token);
    if (link?.state !== 'expired' || !isRenewable(link)) throw new LinkRefused();
    const { purpose, subject, email } = link.verification;
    if (purpose === 'join') throw new LinkRefused();
    await this.proofs.send({ purpose, subject, email, ip: visit.ip });
  }

  /** Limits attempts by client address: guessing codes and links of others comes from somewhere. */
  private async proved({ ip }: Visit, work: () => Promise<ConfirmedAddress>): Promise<ConfirmedAddress> {
    const network = networkOf(ip);
    await this.throttle.spend('code-from-network', network);
    const confirmed = await work();
    await this.throttle.giveBack('code-from-network', network);
    return confirmed;
  }
}

/** Whether the link alone suffices to request a new email. */
export const isRenewable = ({ verification }: OpenedLink): boolean => verification.purpose !== 'change';

/** Changes the email address of an account. The old address stays until the new one is verified. */
@Injectable()
export class AddressChange {
  constructor(
    private readonly accounts: AccountService,
    private readonly proofs: VerificationMailer,
    private readonly verifications: Verifications,
    private readonly confirmations: Confirmations,
    private readonly rules: SignUpRules,
  ) {}

  /**
   * Emails a code to the new address. Looks the same when the address belongs to another account.
   * @throws InvalidAccount, ResendTooSoon, TooManyAttempts, and errors for addresses that are not allowed
   */
  async request({ accountId, email: current, verified }: Visitor, typed: string, { ip }: Visit): Promise<void> {
    const email = normalizeEmail(typed);
    if (email === undefined) throw new InvalidAccount('email', 'Enter an address such as name@example.com.');
    if (verified && email === current)
      throw new InvalidAccount('email', 'Enter another address than the one you have.');
    if (email !== current) this.rules.checkAddress(email);
    const taken = email !== current && (await this.accounts.taken(email));
    await this.proofs.send({ purpose: verified ? 'change' : 'confirm', subject: accountId, email, ip, taken });
  }

  /** The address to be verified; undefined: none. */
  async waiting({ accountId, email }: Visitor): Promise<Verification | undefined> {
    const sent = await this.verifications.sent('change', accountId);
    return sent && sent.usedAt === null && sent.email !== email ? sent : undefined;
  }

  /** @throws CodeRefused, LinkRefused */
  async confirm({ accountId }: Visitor, code: string): Promise<ConfirmedAddress> {
    return this.confirmations.confirm(await this.verifications.byCode('change', accountId, code));
  }

  /** @throws NothingPending, ResendTooSoon, TooManyAttempts */
  async sendAgain(visitor: Visitor, visit: Visit): Promise<void> {
    const waiting = await this.waiting(visitor);
    if (!waiting) throw new NothingPending();
    await this.request(visitor, waiting.email, visit);
  }
}
