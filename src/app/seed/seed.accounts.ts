import { Injectable } from '@nestjs/common';
import { AccountService, AccountStatus } from '../../auth/index.js';
import { ApiKeyService } from '../../keys/index.js';
import { Onboarding } from '../../keys/onboarding/index.js';
import { parseUsd, Secret } from '../../platform/shared/index.js';
import { WalletService } from '../../wallet/index.js';
import { DAY_MS } from './call-script.js';
import { SEED_ACCOUNTS, SEED_PASSWORD, type SeedAccount, type SeedKey, type SeedMovement } from './seed.people.js';

/** A key that was made, with what is to be done with it. */
export interface MadeKey {
  readonly plan: SeedKey;
  readonly id: string;
  readonly secret: Secret;
}

export interface MadeAccount {
  readonly id: string;
  readonly plan: SeedAccount;
  readonly keys: readonly MadeKey[];
}

/** Before the first call of the seed. */
export const OPENED_DAYS_AGO = 31;

/** Makes the accounts of the seed with their money and keys, and switches off those that end switched off. */
@Injectable()
export class SeedAccounts {
  constructor(
    private readonly onboarding: Onboarding,
    private readonly accounts: AccountService,
    private readonly standing: AccountStatus,
    private readonly wallets: WalletService,
    private readonly keys: ApiKeyService,
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

  /**
   * In the order of the plan, so that lists of accounts and keys are always in the same order.
   * @param now milliseconds since 1970, from which the days of the plan are counted back
   */
  async make(now: number): Promise<readonly MadeAccount[]> {
    const made: MadeAccount[] = [];
    for (const plan of SEED_ACCOUNTS) made.push(await this.makeAccount(plan, now));
    return made;
  }

  /** Once their calls have been made: what is switched off makes none. */
  async switchOff({ id, plan, keys }: MadeAccount): Promise<void> {
    for (const key of keys) if (key.plan.disabled) await this.keys.disable(key.id);
    if (plan.disabled) await this.standing.disable(id);
  }

  private async makeAccount(plan: SeedAccount, now: number): Promise<MadeAccount> {
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
    const keys: MadeKey[] = [];
    for (const key of plan.keys) keys.push(await this.makeKey(key, id, now));
    return { id, plan, keys };
  }

  private async move(accountId: string, { amount, reason, daysAgo }: SeedMovement, now: number): Promise<void> {
    const at = new Date(now - daysAgo * DAY_MS);
    await this.wallets.credit(accountId, parseUsd(amount), reason, undefined, at);
  }

  private async makeKey(plan: SeedKey, accountId: string, now: number): Promise<MadeKey> {
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
