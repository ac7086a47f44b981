import { Injectable } from '@nestjs/common';
import type { Secret } from '../../platform/shared/index.js';
import { InvalidAccount } from '../account.errors.js';
import { AccountRepository } from '../account.repository.js';
import { Passwords } from '../passwords.js';
import { PasswordChange } from './password-change.js';

/** The first password that nobody but its owner knows, in the place of one that was handed to them. */
@Injectable()
export class OwnPassword {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly passwords: Passwords,
    private readonly change: PasswordChange,
  ) {}

  /** Signs out whoever is signed in with the old one. @throws InvalidAccount */
  async choose(accountId: string, password: Secret): Promise<void> {
    const account = await this.accounts.withPassword({ id: accountId });
    if (await this.passwords.matches(password, account?.passwordHash))
      throw new InvalidAccount('password', 'Choose a different password than the one you were given.');
    await this.change.set(accountId, password);
  }
}
