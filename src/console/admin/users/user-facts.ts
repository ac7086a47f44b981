import { Injectable } from '@nestjs/common';
import { AccountService, SessionService } from '../../../auth/index.js';
import { sessionViews } from '../../account/index.js';
import { OwnKeys } from '../../../keys/index.js';
import { badgeOf as keyBadgeOf, fullestOf, limitsOf } from '../../keys/index.js';
import { TimeLimitedReads } from '../../../usage/index.js';
import { type TopUp, type TopUpPosition, WalletStatement } from '../../../wallet/index.js';
import { exactAmount, MOVEMENT_WORDS, paymentLabels } from '../../wallet/index.js';

const PAGE_MOVEMENTS = 20;

/** Lists on a user's page: API keys, sessions and ledger. */
@Injectable()
export class UserFacts {
  constructor(
    private readonly keys: OwnKeys,
    private readonly sessions: SessionService,
    private readonly statement: WalletStatement,
    private readonly reads: TimeLimitedReads,
    private readonly accounts: AccountService,
  ) {}

  /** Newest first. @param before only keys older than this one; undefined: from the newest */
  async keysOf(accountId: string, before: string | undefined) {
    const { keys, older } = await this.keys.page(accountId, {}, { before });
    const rows = keys.map((key) => ({
      id: key.id,
      name: key.name,
      hint: key.hint,
      group: key.group,
      used: key.used,
      limit: fullestOf(limitsOf(key)),
      lastUsedAt: key.lastUsedAt,
      badge: keyBadgeOf(key),
      enabled: key.state === 'enabled',
      hasQuota: key.quota !== undefined,
    }));
    return { keys: rows, older: older ? keys.at(-1)?.id : undefined };
  }

  /** @param currentId the session of the request */
  async sessionsOf(accountId: string, currentId: string) {
    return sessionViews(await this.sessions.list(accountId), currentId);
  }

  /** Ledger entries other than calls, newest first. */
  async ledgerOf(accountId: string, before: TopUpPosition | undefined) {
    const { topUps, older } = await this.reads.read((query) =>
      this.statement.topUps(query, accountId, before, PAGE_MOVEMENTS),
    );
    return { movements: topUps.map(movementRow), older };
  }

  account(id: string) {
    return this.accounts.byId(id);
  }
}

const movementRow = ({ id, at, kind, reason, amount, balanceAfter, payment }: TopUp) => ({
  id,
  at,
  source: MOVEMENT_WORDS[kind].source,
  // The source column already says that it is a redemption code.
  reason: reason.replace(/^Redemption code /, ''),
  /** Of a payment: its Stripe reference and status. */
  provider: payment?.isOrder ? { ...payment, words: paymentLabels(payment) } : undefined,
  amount: exactAmount(amount, true),
  after: exactAmount(balanceAfter),
});
