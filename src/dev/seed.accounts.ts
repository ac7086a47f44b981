import { Injectable } from '@nestjs/common';
import { AccountService } from '../auth/index.js';
import { ApiKeyService } from '../keys/index.js';
import { Onboarding } from '../onboarding/index.js';
import { Clock, parseUsd, Secret } from '../shared/index.js';
import { WalletService } from '../wallet/index.js';
import { DAY_MS } from './call-script.js';
import { SEED_ACCOUNTS, SEED_PASSWORD, type SeedAccount, type SeedKey, type SeedMovement } from './seed.people.js';

/** A key that was made, with what is to be done with it. */
export interface MadeKey {
  readonly plan: SeedKey;
  readonly id: string;
  readonly secret: Secret;
}

export interface MadeAccount {
  readonly plan: SeedAccount;
  readonly keys: readonly MadeKey[];
}

/** Before the first call of the seed. */
const OPENED_DAYS_AGO = 31;

/** Makes the accounts of the seed with their money and keys, and switches off those that end switched off. */
@Injectable()
export class SeedAccounts {
  constructor(
    private readonly onboarding: Onboarding,
    private readonly accounts: AccountService,
    private readonly wallets: WalletService,
    private readonly keys: ApiKeyService,
    private readonly clock: Clock,
  ) {}

  /**
   * Whose accounts there are: the seed's, others', or nobody's. One other account counts as nobody's: it is the
   * administrator of a first `npm start`.
   */
  async found(): Promise<'seed' | 'others' | 'nobody'> {
    const emails = (await this.accounts.list()).map(({ email }) => email);
    if (SEED_ACCOUNTS.some(({ email }) => emails.includes(email))) return 'seed';
    return emails.length > 1 ? 'others' : 'nobody';
  }

  /** In the order of the plan, so that lists of accounts and keys are always in the same order. */
  async make(): Promise<readonly MadeAccount[]> {
    const made: MadeAccount[] = [];
    for (const plan of SEED_ACCOUNTS) made.push(await this.makeAccount(plan));
    return made;
  }

  /** Once their calls have been made: what is switched off makes none. */
  async switchOff({ plan, keys }: MadeAccount): Promise<void> {
    for (const key of keys) if (key.plan.disabled) await this.keys.disable(key.id);
    if (plan.disabled) await this.accounts.disable(plan.email);
  }

  private async makeAccount(plan: SeedAccount): Promise<MadeAccount> {
    const { id } = await this.onboarding.createAccount({
      email: plan.email,
      name: plan.name,
      password: new Secret(SEED_PASSWORD),
      role: plan.admin ? 'admin' : 'user',
      verified: true,
      groupName: plan.group,
    });
    const opening = { amount: plan.credit, reason: 'Opening credit', daysAgo: OPENED_DAYS_AGO };
    for (const movement of [opening, ...(plan.movements ?? [])]) await this.move(id, movement);
    const keys: MadeKey[] = [];
    for (const key of plan.keys) keys.push(await this.makeKey(key, id));
    return { plan, keys };
  }

  private async move(accountId: string, { amount, reason, daysAgo }: SeedMovement): Promise<void> {
    const at = new Date(this.clock.now() - daysAgo * DAY_MS);
    await this.wallets.credit(accountId, parseUsd(amount), reason, undefined, at);
  }

  private async makeKey(plan: SeedKey, accountId: string): Promise<MadeKey> {
    const { name, quota, group, models, expiredDaysAgo, secret: known } = plan;
    const key = {
      accountId,
      name,
      quota: quota === undefined ? undefined : parseUsd(quota),
      groupName: group,
      models,
      expiresAt: expiredDaysAgo === undefined ? undefined : new Date(this.clock.now() - expiredDaysAgo * DAY_MS),
    };
    const made = known === undefined ? await this.keys.create(key) : await this.keys.import(key, new Secret(known));
    return { plan, id: made.id, secret: made.secret };
  }
}
