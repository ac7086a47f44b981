import { Injectable, type OnModuleInit } from '@nestjs/common';
import { allows, type Visitor } from '../../auth/index.js';
import { KeyHolders } from '../../keys/index.js';
import { usd } from '../../platform/format/index.js';
import { Settings } from '../../platform/settings/index.js';
import { Clock, dayOf, type Nanos, nanos } from '../../platform/shared/index.js';
import { TimeLimitedReads } from '../../usage/index.js';
import { allowanceOf, offerIn, type TopUpPosition, WalletService, WalletStatement } from '../../wallet/index.js';
import { Cursors, type Form, type Notice, Page, type LayoutPart, LayoutParts } from '../web/index.js';
import { type TopUpForm, type RedeemForm, walletView } from './wallet.view.js';

const PAGE_ROWS = 50;

const TOP_UPS = 'top-ups';
const DAYS = 'consumption';

export interface WalletQuery {
  readonly topups?: unknown;
  readonly before?: unknown;
}

interface RejectedForm {
  readonly code?: Form<RedeemForm>;
  readonly payment?: Form<TopUpForm>;
  /** Why a payment could not be started, if its form is valid. */
  readonly notStarted?: string;
  /** Default: 422. */
  readonly status?: number;
}

/** The wallet page: balance, top-ups and consumption, with the forms to add funds. */
@Injectable()
export class WalletPage {
  constructor(
    private readonly statement: WalletStatement,
    private readonly reads: TimeLimitedReads,
    private readonly settings: Settings,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  async show(visitor: Visitor, query: WalletQuery, rejected: RejectedForm = {}): Promise<Page> {
    const [topUpsFrom, daysFrom] = [this.open(TOP_UPS, query.topups), this.open(DAYS, query.before)];
    const { topUpsBehind, daysBehind, ...read } = await this.read(visitor, topUpsFrom, daysFrom);
    const { code, payment, notStarted, status } = rejected;
    const data = walletView({
      ...read,
      olderTopUps: topUpsBehind && this.cursors.seal(TOP_UPS, { at: topUpsBehind[0], id: topUpsBehind[1] }),
      olderDays: daysBehind && this.cursors.seal(DAYS, { at: daysBehind.toISOString() }),
      topUpsTurned: typeof topUpsFrom === 'object',
      daysTurned: typeof daysFrom === 'object',
      lost: topUpsFrom === 'lost' || daysFrom === 'lost',
      offer: offerIn(this.settings.current().payment),
      code,
      payment,
      mayPay: allows(visitor.organization, 'manage wallet'),
    });
    return new Page('wallet/wallet', {
      title: notStarted === undefined ? 'Wallet' : 'Error: Wallet',
      data: { ...data, notStarted },
      status,
    });
  }

  private open(list: string, sealed: unknown): Cursor {
    if (sealed === undefined || sealed === '') return undefined;
    return (typeof sealed === 'string' ? this.cursors.open(list, sealed) : undefined) ?? 'lost';
  }

  private read({ scopeId, timeZone }: Visitor, topUpsFrom: Cursor, daysFrom: Cursor) {
    const now = this.clock.date();
    return this.reads.read(async (query) => {
      const { topUps, older } = await this.statement.topUps(query, scopeId, positionIn(topUpsFrom), PAGE_ROWS);
      const { days, before } = await this.statement.consumption(query, scopeId, timeZone, momentIn(daysFrom));
      return {
        wallet: await this.statement.balance(query, scopeId),
        history: await this.statement.history(query, scopeId, timeZone, now),
        pace: await this.statement.pace(query, scopeId, now),
        allowance: await allowanceOf(query, scopeId),
        topUps,
        /** Start of the next page; undefined on the last one. */
        topUpsBehind: older,
        days,
        daysBehind: before,
        dayNames: days.map(({ start }) => dayOf(start, timeZone)),
        now,
        timeZone,
      };
    });
  }
}

/** `lost` for an invalid cursor, undefined for the first page. */
type Cursor = Readonly<Record<string, string>> | 'lost' | undefined;

const positionIn = (cursor: Cursor): TopUpPosition | undefined =>
  typeof cursor === 'object' ? [cursor['at'] ?? '', cursor['id'] ?? ''] : undefined;

const momentIn = (cursor: Cursor): Date | undefined =>
  typeof cursor === 'object' ? new Date(cursor['at'] ?? '') : undefined;

const LOW = nanos(1_000_000_000n);
const ADD_FUNDS = { href: '/wallet', label: 'Open wallet' } as const;

/**
 * Adds the balance to the layout of every page, with a notice if it is low or in debt; for members of an organization
 * who may not see it, what is left of their own budget.
 */
@Injectable()
export class WalletLayoutPart implements OnModuleInit {
  constructor(
    private readonly wallets: WalletService,
    private readonly holders: KeyHolders,
    private readonly layout: LayoutParts,
  ) {}

  onModuleInit(): void {
    this.layout.add((visitor) => this.of(visitor));
  }

  private async of({ scopeId, verified, organization }: Visitor): Promise<LayoutPart> {
    // Unverified users do not see their wallet.
    if (!verified) return {};
    if (organization !== undefined && !allows(organization, 'view wallet'))
      return { budget: await this.holders.leftOf(organization) };
    const { balance, held, owed } = await this.wallets.balanceOf(scopeId);
    const left = nanos(balance - held);
    if (owed > 0n) return { balance, notices: [owing(owed)] };
    if (left >= LOW || !(await this.wallets.everFunded(scopeId))) return { balance };
    return { balance, notices: [balance > 0n ? low(left, held) : USED_UP] };
  }
}

const owing = (owed: Nanos): Notice => ({
  tone: 'bad',
  title: `Your account owes ${usd(owed)}`,
  text: 'A payment was reversed. Requests are blocked until the debt is settled; your next top-up is applied to it first.',
  action: ADD_FUNDS,
});

const low = (left: Nanos, held: Nanos): Notice => ({
  tone: 'warn',
  title: `Only ${usd(left)} is left`,
  text: `${held > 0n ? `${usd(held)} more is on hold for running calls. ` : ''}Calls are rejected when the balance is used up.`,
  action: ADD_FUNDS,
});

const USED_UP: Notice = {
  tone: 'bad',
  title: 'Your balance is used up',
  text: 'Paid calls are rejected with “insufficient quota” until you add funds.',
  action: ADD_FUNDS,
};
