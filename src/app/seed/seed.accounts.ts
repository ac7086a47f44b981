import { Injectable } from '@nestjs/common';
import { AccountService, AccountStatus } from '../../auth/index.js';
import { ApiKeyService } from '../../keys/index.js';
import { Onboarding } from '../../keys/onboarding/index.js';
import { parseUsd, Secret } from '../../platform/shared/index.js';
import { WalletService } from '../../wallet/index.js';
import { DAY_MS } from './call-script.js';

/** A created key, with its plan. */
export interface SeededKey {
  readonly plan: SeedKey;
  readonly id: string;
  readonly secret: Secret;
}

export interface SeededAccount {
  readonly id: string;
  readonly plan: SeedAccount;
  readonly keys: readonly SeededKey[];
}

/** Before the first seed call. */
export const OPENED_DAYS_AGO = 31;

/** Creates the seed accounts with their balances and keys, and disables some of them afterwards. */
@Injectable()
export class SeedAccounts {
  constructor(
    private readonly onboarding: Onboarding,
    private readonly accounts: AccountService,
    private readonly accountStatus: AccountStatus,
    private readonly wallets: WalletService,
    private readonly keys: ApiKeyService,
  ) {}

  /** Which accounts are stored. A single other account counts as none: a first `npm start` creates an administrator. */
  async existing(): Promise<'seed' | 'others' | 'none'> {
    const emails = (await this.accounts.list()).map(({ email }) => email);
    if (SEED_ACCOUNTS.some(({ email }) => emails.includes(email))) return 'seed';
    return emails.length > 1 ? 'others' : 'none';
  }

  /**
   * Creates them in the order of the plan, so that lists are always in the same order.
   * @param now milliseconds since 1970; the plan counts days back from it
   */
  async make(now: number): Promise<readonly SeededAccount[]> {
    const made: SeededAccount[] = [];
    for (const plan of SEED_ACCOUNTS) made.push(await this.makeAccount(plan, now));
    return made;
  }

  /** Call after the calls are played: disabled keys and accounts cannot make calls. */
  async disable({ id, plan, keys }: SeededAccount): Promise<void> {
    for (const key of keys) if (key.plan.disabled) await this.keys.disable(key.id);
    if (plan.disabled) await this.accountStatus.disable(id);
  }

  private async makeAccount(plan: SeedAccount, now: number): Promise<SeededAccount> {
    const { id } = await this.onboarding.createAccount({
      email: plan.email,
      name: plan.name,
      password: new Secret(SEED_PASSWORD),
      role: plan.admin ? 'admin' : 'user',
      verified: true,
      groupName: plan.group,
    });
    const opening = { amount: plan.credit, reason: 'Opening credit', daysAgo: OPENED_DAYS_AGO };
    for (const movement of [opening, ...(plan.movements ?? [])]) await this.move(id, movement, now);
    const keys: SeededKey[] = [];
    for (const key of plan.keys) keys.push(await this.makeKey(key, id, now));
    return { id, plan, keys };
  }

  private async move(accountId: string, { amount, reason, daysAgo }: SeedMovement, now: number): Promise<void> {
    const at = new Date(now - daysAgo * DAY_MS);
    await this.wallets.credit(accountId, parseUsd(amount), reason, undefined, at);
  }

  private async makeKey(plan: SeedKey, accountId: string, now: number): Promise<SeededKey> {
    const { name, quota, group, models, expiredDaysAgo, secret: known } = plan;
    const key = {
      accountId,
      name,
      quota: quota === undefined ? undefined : parseUsd(quota),
      groupName: group,
      models,
      expiresAt: expiredDaysAgo === undefined ? undefined : new Date(now - expiredDaysAgo * DAY_MS),
    };
    const made = known === undefined ? await this.keys.create(key) : await this.keys.import(key, new Secret(known));
    return { plan, id: made.id, secret: made.secret };
  }
}

/** The password of every seed account; public. */
export const SEED_PASSWORD = 'switchboard-dev';

/** A public API key for a first `curl`; all others are random. */
export const SEED_SECRET = 'sk-dev-known-to-everyone-use-it-nowhere-else';

/** A key and its use. Amounts in dollars, times in days before now. */
interface SeedKey {
  readonly name: string;
  readonly calls: number;
  /** Period of its calls, from and to; default: the whole month. */
  readonly days?: readonly [number, number];
  readonly secret?: string;
  readonly quota?: string;
  readonly group?: string;
  readonly models?: readonly string[];
  readonly expiredDaysAgo?: number;
  /** Disabled after its calls. */
  readonly disabled?: true;
  /** Number of recent calls refused because the key is expired or disabled, or its account suspended. */
  readonly refused?: number;
}

/** A manual credit. */
interface SeedMovement {
  readonly amount: string;
  readonly reason: string;
  readonly daysAgo: number;
}

export interface SeedAccount {
  readonly email: string;
  readonly name: string;
  readonly admin?: true;
  readonly group?: string;
  readonly credit: string;
  readonly movements?: readonly SeedMovement[];
  /** Disabled after its calls. */
  readonly disabled?: true;
  readonly keys: readonly SeedKey[];
}

/** Period of refused calls, in days before now. */
export const REFUSED_DAYS: readonly [number, number] = [5, 0];

/** Some have a balance, one has run out, one is suspended. */
export const SEED_ACCOUNTS: readonly SeedAccount[] = [
  {
    email: 'admin@example.com',
    name: 'Admin',
    admin: true,
    credit: '20',
    keys: [{ name: 'checks', calls: 100 }],
  },
  {
    email: 'ada@example.com',
    name: 'Ada',
    credit: '100',
    movements: [
      { amount: '25', reason: 'Bank transfer', daysAgo: 17 },
      { amount: '-5', reason: 'Correction: the transfer was entered with a fee', daysAgo: 16 },
    ],
    keys: [
      { name: 'laptop', calls: 620, secret: SEED_SECRET },
      { name: 'nightly tests', calls: 260, quota: '1.5' },
      { name: 'old phone', calls: 120, days: [30, 8], disabled: true, refused: 12 },
      { name: 'contractor', calls: 0, quota: '10', expiredDaysAgo: 6, refused: 8 },
    ],
  },
  {
    email: 'grace@example.com',
    name: 'Grace',
    group: 'saver',
    credit: '40',
    keys: [
      { name: 'agent', calls: 420 },
      { name: 'reports', calls: 180, group: 'default' },
    ],
  },
  {
    email: 'alan@example.com',
    name: 'Alan, who has spent it all',
    credit: '1',
    keys: [{ name: 'notebook', calls: 160 }],
  },
  {
    email: 'former@example.com',
    name: 'Former member',
    credit: '10',
    disabled: true,
    keys: [{ name: 'script', calls: 110, days: [30, 12], refused: 10 }],
  },
];
