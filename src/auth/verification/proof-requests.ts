import { Injectable } from '@nestjs/common';
import { networkOf } from '../../platform/shared/index.js';
import { alikeForm } from '../email-address.js';
import { AccountMails } from '../mails/account-mails.js';
import { Throttle } from '../throttle/throttle.js';
import { type Purpose, SentJustNow } from './verification.js';
import { Verifications } from './verification.service.js';

export interface ProofMail {
  readonly purpose: Purpose;
  /** ID of the account or the registration. */
  readonly subject: string;
  readonly email: string;
  /** Another account has the address: its owner is notified, and the requester sees no difference. */
  readonly taken?: boolean;
}

interface ProofRequest extends ProofMail {
  /** Client address. */
  readonly ip: string;
}

/** Emails codes and links, with limits per address and per requesting network. */
@Injectable()
export class ProofRequests {
  constructor(
    private readonly throttle: Throttle,
    private readonly verifications: Verifications,
    private readonly mails: AccountMails,
  ) {}

  /** @throws TooManyTries, SentJustNow */
  async send({ ip, ...mail }: ProofRequest): Promise<void> {
    await this.spend(mail.email, ip);
    try {
      await this.mail(mail);
    } catch (error) {
      if (error instanceof SentJustNow) await this.giveBack(mail.email, ip);
      throw error;
    }
  }

  /** Counts a requested email. @throws TooManyTries */
  async spend(email: string, ip: string): Promise<void> {
    await this.throttle.spend('mail-from-network', networkOf(ip));
    await this.throttle.spend('mail-to-address', alikeForm(email));
  }

  /** Sends it without counting. @throws SentJustNow */
  async mail({ purpose, subject, email, taken = false }: ProofMail): Promise<void> {
    const proof = await this.verifications.issue({ purpose, subject, email, hopeless: taken });
    if (!taken) this.mails.sendProof(purpose, email, proof);
    else if (purpose === 'register') this.mails.sendAlreadyRegistered(email);
    else this.mails.sendAddressTaken(email);
  }

  private async giveBack(email: string, ip: string): Promise<void> {
    await this.throttle.giveBack('mail-from-network', networkOf(ip));
    await this.throttle.giveBack('mail-to-address', alikeForm(email));
  }
}
