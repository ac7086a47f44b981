import { Injectable } from '@nestjs/common';
import {
  AccountService,
  InvalidAccount,
  normalizeEmail,
  ProofRequests,
  type Verification,
  Verifications,
  type Visit,
  type Visitor,
} from '../../../auth/index.js';
import { NothingPending } from '../registration/registration.service.js';
import { SignUpRules } from '../registration/sign-up-rules.js';
import { Confirmations, type ConfirmedAddress } from './confirmations.js';

/** Another address for an account. It has the one that it had until the new one is confirmed. */
@Injectable()
export class AddressChange {
  constructor(
    private readonly accounts: AccountService,
    private readonly proofs: ProofRequests,
    private readonly verifications: Verifications,
    private readonly confirmations: Confirmations,
    private readonly rules: SignUpRules,
  ) {}

  /**
   * Has a code mailed to the new address. When it is another account's, nothing looks different.
   * @throws InvalidAccount, SentJustNow, TooManyTries, and of an address that is not let in
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

  /** The address that an account waits to have confirmed; undefined: none. */
  async waiting({ accountId, email }: Visitor): Promise<Verification | undefined> {
    const sent = await this.verifications.sent('change', accountId);
    return sent && sent.usedAt === null && sent.email !== email ? sent : undefined;
  }

  /** @throws CodeRefused, LinkRefused */
  async confirm({ accountId }: Visitor, code: string): Promise<ConfirmedAddress> {
    return this.confirmations.confirm(await this.verifications.byCode('change', accountId, code));
  }

  /** @throws NothingPending, SentJustNow, TooManyTries */
  async sendAgain(visitor: Visitor, visit: Visit): Promise<void> {
    const waiting = await this.waiting(visitor);
    if (!waiting) throw new NothingPending();
    await this.request(visitor, waiting.email, visit);
  }
}
