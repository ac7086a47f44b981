import { Injectable } from '@nestjs/common';
import { AccountService, type ProofMail, ProofRequests } from '../../../auth/index.js';
import type { RegistrationRow } from './registration.repository.js';

type Registration = Pick<RegistrationRow, 'id' | 'email'>;

/** The mail that a registration has sent: its code or, to an address that has an account, what its owner should know. */
@Injectable()
export class RegistrationMails {
  constructor(
    private readonly accounts: AccountService,
    private readonly proofs: ProofRequests,
  ) {}

  /** Counts a mail that is asked for. @throws TooManyTries */
  spend(email: string, ip: string): Promise<void> {
    return this.proofs.spend(email, ip);
  }

  /** Sends it, counted before. */
  async send(registration: Registration): Promise<void> {
    await this.proofs.mail(await this.mailFor(registration));
  }

  /** @throws SentJustNow, TooManyTries */
  async sendAgain(registration: Registration, ip: string): Promise<void> {
    await this.proofs.send({ ...(await this.mailFor(registration)), ip });
  }

  private async mailFor({ id, email }: Registration): Promise<ProofMail> {
    return { purpose: 'register', subject: id, email, taken: await this.accounts.taken(email) };
  }
}
