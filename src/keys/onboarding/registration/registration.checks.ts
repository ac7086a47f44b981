import { Injectable } from '@nestjs/common';
import { checkChoice, InvalidAccount, normalizeEmail } from '../../../auth/index.js';
import type { Secret } from '../../../platform/shared/index.js';
import { InvitationRefused, Invitations } from './invitations.js';
import { SignUpRules } from './sign-up-rules.js';

/** What somebody who registers has entered. */
export interface Application {
  readonly name: string;
  readonly email: string;
  readonly password: Secret;
  readonly invitation: string;
}

export interface CheckedApplication {
  readonly name: string;
  readonly email: string;
  readonly password: Secret;
  readonly invitationId: string | null;
}

/**
 * Whether somebody may register with what they entered. Nothing here depends on whose address it is, and nothing takes
 * long: it is done however often strangers try.
 */
@Injectable()
export class RegistrationChecks {
  constructor(
    private readonly rules: SignUpRules,
    private readonly invitations: Invitations,
  ) {}

  /** @throws SignUpClosed, InvalidAccount, InvitationRefused, and of an address that is not let in */
  async check({ name: typedName, email: typed, password, invitation }: Application): Promise<CheckedApplication> {
    this.rules.checkOpen();
    const name = typedName.trim();
    if (!/^[^\p{Cc}]{1,100}$/u.test(name)) throw new InvalidAccount('name', 'Enter a name of at most 100 characters.');
    const email = normalizeEmail(typed);
    if (email === undefined) throw new InvalidAccount('email', 'Enter an address such as name@example.com.');
    this.rules.checkAddress(email);
    checkChoice(password, { email, name });
    return { name, email, password, invitationId: await this.invitationIn(invitation) };
  }

  private async invitationIn(typed: string): Promise<string | null> {
    if (!this.rules.invitationNeeded) return null;
    if (typed.trim() === '') throw new InvitationRefused('Enter your invitation code.');
    return this.invitations.find(typed);
  }
}
