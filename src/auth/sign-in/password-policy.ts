import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditLog } from '../../platform/audit/index.js';
import { Settings } from '../../platform/settings/index.js';
import { AppError, Clock } from '../../platform/shared/index.js';
import type { Account } from '../account.js';

/** Only shown to those who know the password. */
export class PasswordSignInIsOff extends AppError {
  constructor() {
    super('invalid_request', 'Sign-in with a password is turned off. Continue with a provider.', { param: 'password' });
  }
}

const FIND = 'SELECT ends_at AS "endsAt" FROM password_window WHERE ends_at > $1';
const OPEN = `
  INSERT INTO password_window (ends_at) VALUES ($1) ON CONFLICT (is_single) DO UPDATE SET ends_at = excluded.ends_at`;
const CLOSE = 'DELETE FROM password_window WHERE ends_at > $1 RETURNING ends_at';

/**
 * An enabled administrator has signed in with a provider that still exists. Issuers as typed may lack the final slash.
 */
const PROVIDER_WORKS = `
  SELECT EXISTS (
    SELECT FROM linked_identities i
      JOIN accounts a ON a.id = i.account_id AND a.role = 'admin' AND a.state = 'enabled'
      JOIN sign_in_providers p ON rtrim(p.issuer, '/') = rtrim(i.issuer, '/')
     WHERE i.last_used_at IS NOT NULL) AS works`;

/** Whether passwords sign in. */
export interface PasswordRules {
  readonly isOff: boolean;
  /** Off, but still allowed for administrators: none of them has signed in with a provider yet. */
  readonly areAdministratorsAllowed: boolean;
  /** Allowed by the command line until then, for everyone. */
  readonly allowedUntil: Date | undefined;
}

const ALLOWED: PasswordRules = { isOff: false, areAdministratorsAllowed: true, allowedUntil: undefined };

const OBJECT = { kind: 'setting', id: 'password sign-in', name: 'Password sign-in' } as const;

/** The setting that turns password sign-in off, and the command that allows it for a while in an emergency. */
@Injectable()
export class PasswordPolicy {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
  ) {}

  async rules(): Promise<PasswordRules> {
    if (!this.settings.current().signUp.passwordSignInIsOff) return ALLOWED;
    const [open] = await this.dataSource.query<{ endsAt: Date }[]>(FIND, [this.clock.date()]);
    const [provider] = await this.dataSource.query<{ works: boolean }[]>(PROVIDER_WORKS);
    const isOpen = open !== undefined;
    return { isOff: !isOpen, areAdministratorsAllowed: isOpen || provider?.works !== true, allowedUntil: open?.endsAt };
  }

  /** Whether any password signs in, so that its form is shown. */
  async isOffered(): Promise<boolean> {
    const { isOff, areAdministratorsAllowed } = await this.rules();
    return !isOff || areAdministratorsAllowed;
  }

  /** @throws PasswordSignInIsOff */
  async check({ role }: Pick<Account, 'role'>): Promise<void> {
    const { isOff, areAdministratorsAllowed } = await this.rules();
    if (isOff && !(role === 'admin' && areAdministratorsAllowed)) throw new PasswordSignInIsOff();
  }

  /** Allows password sign-in for a while, whatever the setting. @returns until when */
  allowFor(ms: number): Promise<Date> {
    const endsAt = new Date(this.clock.now() + ms);
    return this.dataSource.transaction(async (manager) => {
      await manager.query(OPEN, [endsAt]);
      await this.record(`allowed until ${endsAt.toISOString()}`, manager);
      return endsAt;
    });
  }

  /** Ends it early. @returns false if it was not allowed */
  endAllowance(): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const [ended] = await manager.query<[unknown[], number]>(CLOSE, [this.clock.date()]);
      if (ended.length === 0) return false;
      await this.record('no longer allowed by the command line', manager);
      return true;
    });
  }

  private record(line: string, manager: EntityManager): Promise<void> {
    return this.audit.record({ action: 'changed', object: OBJECT, lines: [line] }, manager);
  }
}
