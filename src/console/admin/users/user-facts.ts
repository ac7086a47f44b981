import { Injectable } from '@nestjs/common';
import { AccountService, SessionService } from '../../../auth/index.js';
import { sessionViews } from '../../account/index.js';
import { OwnKeys } from '../../../keys/index.js';
import { badgeOf as keyBadgeOf, fullestOf, limitsOf } from '../../keys/index.js';
import { TimeLimitedReads } from '../../../usage/index.js';
import { type TopUp, type TopUpPosition, WalletStatement } from '../../../wallet/index.js';
import { exactAmount, MOVEMENT_WORDS, paymentWords } from '../../wallet/index.js';

const PAGE_MOVEMENTS = 20;

/** What stands on a user's page beside the figures and the forms. */
@Injectable()
export class UserFacts {
  constructor(
    private readonly keys: OwnKeys,
    private readonly sessions: SessionService,
    private readonly statement: WalletStatement,
    private readonly reads: TimeLimitedReads,
    private readonly accounts: AccountService,
  ) {}

  /** Rows of the page, newest first. @param before older than this key; undefined: from the newest on */
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

  /** @param currentId the session that asks, which may be one of them */
  async sessionsOf(accountId: string, currentId: string) {
    return sessionViews(await this.sessions.list(accountId), currentId);
  }

  /** What moved the wallet but calls, newest first. */
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
  // Of a code it says which one, which the source says already.
  reason: reason.replace(/^Redemption code /, ''),
  /** Of a payment: by what Stripe knows it, and how it stands. */
  provider: payment?.isOrder ? { ...payment, words: paymentWords(payment) } : undefined,
  amount: exactAmount(amount, true),
  after: exactAmount(balanceAfter),
});
