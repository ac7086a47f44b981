import { Injectable } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { dayOf, formatUsd } from '../../platform/shared/index.js';
import { csvLines, TimeLimitedReads } from '../../usage/index.js';
import {
  type ConsumptionPage,
  type TopUp,
  type TopUpPage,
  type TopUpPosition,
  WalletStatement,
} from '../../wallet/index.js';
import { unpaidReason } from './payment.view.js';

const TOP_UP_COLUMNS = [
  'time',
  'kind',
  'reference',
  'amount_usd',
  'debt_paid_usd',
  'balance_after_usd',
  'reason',
  'state',
  'ordered_usd',
];
const DAY_COLUMNS = ['day', 'calls', 'tokens', 'top_model', 'amount_usd', 'balance_after_usd'];
const PAGE_ROWS = 500;

/** The wallet's lists as CSV, newest first. Amounts are plain decimals with up to nine digits. */
@Injectable()
export class WalletCsv {
  constructor(
    private readonly statement: WalletStatement,
    private readonly reads: TimeLimitedReads,
  ) {}

  async *topUps({ scopeId }: Visitor): AsyncGenerator<string, void, void> {
    yield csvLines([TOP_UP_COLUMNS]);
    let before: TopUpPosition | undefined;
    do {
      const at = before;
      const page: TopUpPage = await this.reads.read((query) => this.statement.topUps(query, scopeId, at, PAGE_ROWS));
      yield csvLines(page.topUps.map(topUpCells));
      before = page.older;
    } while (before !== undefined);
  }

  /** Days are in the user's time zone. */
  async *consumption({ scopeId, timeZone }: Visitor): AsyncGenerator<string, void, void> {
    yield csvLines([DAY_COLUMNS]);
    let before: Date | undefined;
    do {
      const at = before;
      const page: ConsumptionPage = await this.reads.read((query) =>
        this.statement.consumption(query, scopeId, timeZone, at),
      );
      yield csvLines(
        page.days.map(({ start, calls, tokens, topModel, cost, balanceAfter }) => [
          dayOf(start, timeZone),
          calls,
          tokens,
          topModel,
          formatUsd(cost),
          formatUsd(balanceAfter),
        ]),
      );
      before = page.before;
    } while (before !== undefined);
  }
}

/** A payment includes its order's state and amount; until it is paid, its own amount is 0. */
function topUpCells({ at, kind, id, amount, paidDebt, balanceAfter, reason, payment }: TopUp): readonly string[] {
  const order = payment?.isOrder ? payment : undefined;
  return [
    at.toISOString(),
    kind,
    order?.id ?? id,
    formatUsd(amount),
    formatUsd(paidDebt),
    formatUsd(balanceAfter),
    order ? unpaidReason(order) : reason,
    order?.state ?? '',
    order ? formatUsd(order.amount) : '',
  ];
}
