import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AccountExists, AccountService, LinkRefused } from '../../../auth/index.js';
import { Onboarding } from '../onboarding.service.js';
import { StartingCredits } from '../starting-credits.js';
import { Invitations } from './invitations.js';
import { RegistrationRepository } from './registration.repository.js';

/** Makes an account of a registration whose address was shown to be theirs who registered. */
@Injectable()
export class RegistrationOpening {
  constructor(
    private readonly registrations: RegistrationRepository,
    private readonly accounts: AccountService,
    private readonly onboarding: Onboarding,
    private readonly invitations: Invitations,
    private readonly credits: StartingCredits,
  ) {}

  /**
   * In the transaction that uses up what proved it.
   * @returns the id of the account
   * @throws LinkRefused when the address has an account by now, or the registration is gone; InvitationRefused
   */
  async open(registrationId: string, manager: EntityManager): Promise<string> {
    const registration = await this.registrations.take(registrationId, manager);
    if (!registration) throw new LinkRefused();
    const { email, name, passwordHash, invitationId } = registration;
    const prepared = await this.accounts.prepare({ email, name, passwordHash, verified: true });
    const { id } = await this.onboarding.open(prepared, undefined, manager).catch(asRefusal);
    if (invitationId !== null) await this.invitations.use(invitationId, id, manager);
    await this.credits.give(id, email, true, manager);
    return id;
  }
}

/** Somebody else, or the same person twice, was quicker. */
function asRefusal(error: unknown): never {
  throw error instanceof AccountExists ? new LinkRefused() : error;
}
