import { Injectable } from '@nestjs/common';
import { Settings } from '../../../platform/settings/index.js';
import { AppError } from '../../../platform/shared/index.js';

/** Registration is closed. */
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

/** Who may register, according to the settings. */
@Injectable()
export class SignUpRules {
  constructor(private readonly settings: Settings) {}

  get invitationNeeded(): boolean {
    return this.settings.current().signUp.mode === 'invite';
  }

  get closed(): boolean {
    return this.settings.current().signUp.mode === 'closed';
  }

  /** For display. */
  get domains(): readonly string[] {
    return this.settings.current().signUp.domains;
  }

  /** @throws SignUpClosed */
  checkOpen(): void {
    if (this.closed) throw new SignUpClosed();
  }

  /** Allows exact domains, without subdomains. @throws DomainRefused */
  checkAddress(email: string): void {
    const { domains } = this;
    if (domains.length > 0 && !domains.includes(email.slice(email.lastIndexOf('@') + 1)))
      throw new DomainRefused(domains);
  }
}
