import { Injectable } from '@nestjs/common';
import { Settings } from '../../../platform/settings/index.js';
import { AppError } from '../../../platform/shared/index.js';

/** Nobody makes an account for themselves here. */
export class SignUpClosed extends AppError {
  constructor() {
    super('permission_denied', 'Registration is closed. Accounts are created by administrators.');
  }
}

class DomainRefused extends AppError {
  constructor(domains: readonly string[]) {
    super('invalid_request', `Enter an address that ends in ${domains.map((domain) => `@${domain}`).join(' or ')}.`, {
      param: 'email',
    });
  }
}

/** Who may make an account: the settings say it. */
@Injectable()
export class SignUpRules {
  constructor(private readonly settings: Settings) {}

  get invitationNeeded(): boolean {
    return this.settings.current().signUp.mode === 'invite';
  }

  get closed(): boolean {
    return this.settings.current().signUp.mode === 'closed';
  }

  /** In words, for the form. */
  get domains(): readonly string[] {
    return this.settings.current().signUp.domains;
  }

  /** @throws SignUpClosed */
  checkOpen(): void {
    if (this.closed) throw new SignUpClosed();
  }

  /** The domain itself, and none below it. @throws DomainRefused */
  checkAddress(email: string): void {
    const { domains } = this;
    if (domains.length > 0 && !domains.includes(email.slice(email.lastIndexOf('@') + 1)))
      throw new DomainRefused(domains);
  }
}
