import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { usd } from '../../platform/format/index.js';
import { Settings } from '../../platform/settings/index.js';
import { Clock, dayOf, type Nanos, nanos } from '../../platform/shared/index.js';
import { TimeLimitedReads } from '../../usage/index.js';
import { allowanceOf, offerIn, type TopUpPosition, WalletService, WalletStatement } from '../../wallet/index.js';
import { Cursors, type Form, type Notice, Page, type Shell, ShellContent } from '../web/index.js';
import { type TopUpForm, type RedeemForm, walletPage } from './wallet.view.js';

const PAGE_ROWS = 50;

/** Where the two lists of the page begin; undefined: at the newest. */
interface WalletPlaces {
  readonly topUps: TopUpPosition | undefined;
  readonly days: Date | undefined;
}

/** Reads what the page of the wallet shows, all of one moment. */
@Injectable()
export class WalletReader {
  constructor(
    private readonly statement: WalletStatement,
    private readonly reads: TimeLimitedReads,
    private readonly clock: Clock,
  ) {}

  read({ accountId, timeZone }: Visitor, places: WalletPlaces) {
    const now = this.clock.date();
    return this.reads.read(async (query) => {
      const topUps = await this.statement.topUps(query, accountId, places.topUps, PAGE_ROWS);
      const days = await this.statement.consumption(query, accountId, timeZone, places.days);
      return {
        wallet: await this.statement.balance(query, accountId),
        history: await this.statement.history(query, accountId, timeZone, now),
        pace: await this.statement.pace(query, accountId, now),
        allowance: await allowanceOf(query, accountId),
        topUps: topUps.topUps,
        /** Where the next page begins; undefined: there is none. */
        topUpsBehind: topUps.older,
        days: days.days,
        daysBehind: days.before,
        dayNames: days.days.map(({ start }) => dayOf(start, timeZone)),
        now,
        timeZone,
      };
    });
  }
}

const TOP_UPS = 'top-ups';
const DAYS = 'consumption';

/** Where the two lists of the page begin, as the address has it. */
export interface WalletEntry {
  readonly topups?: unknown;
  readonly before?: unknown;
}

/** The form that was refused, if one was. */
interface ReturnedForms {
  readonly code?: Form<RedeemForm>;
  readonly payment?: Form<TopUpForm>;
  /** Why no payment was begun though nothing is wrong with the form. */
  readonly notBegun?: string;
  /** When it is not 422. */
  readonly status?: number;
}

/** The page of the wallet. */
@Injectable()
export class WalletPages {
  constructor(
    private readonly reader: WalletReader,
    private readonly settings: Settings,
    private readonly cursors: Cursors,
  ) {}

  async show(visitor: Visitor, entry: WalletEntry, returned: ReturnedForms = {}): Promise<Page> {
    const [topUpsFrom, daysFrom] = [this.open(TOP_UPS, entry.topups), this.open(DAYS, entry.before)];
    const read = await this.reader.read(visitor, { topUps: positionIn(topUpsFrom), days: momentIn(daysFrom) });
    const { topUpsBehind, daysBehind } = read;
    const data = walletPage({
      ...read,
      olderTopUps: topUpsBehind && this.cursors.seal(TOP_UPS, { at: topUpsBehind[0], id: topUpsBehind[1] }),
      olderDays: daysBehind && this.cursors.seal(DAYS, { at: daysBehind.toISOString() }),
      topUpsTurned: typeof topUpsFrom === 'object',
      daysTurned: typeof daysFrom === 'object',
      lost: topUpsFrom === 'lost' || daysFrom === 'lost',
      offer: offerIn(this.settings.current().payment),
      code: returned.code,
      payment: returned.payment,
    });
    const { status, notBegun } = returned;
    const title = notBegun === undefined ? 'Wallet' : 'Error: Wallet';
    const shown = { ...data, notBegun };
    return new Page('wallet/wallet', { title, data: shown, ...(status !== undefined && { status }) });
  }

  private open(list: string, sealed: unknown): Readonly<Record<string, string>> | 'lost' | undefined {
    if (sealed === undefined || sealed === '') return undefined;
    return (typeof sealed === 'string' ? this.cursors.open(list, sealed) : undefined) ?? 'lost';
  }
}

type Opened = Readonly<Record<string, string>> | 'lost' | undefined;

const positionIn = (opened: Opened): TopUpPosition | undefined =>
  typeof opened === 'object' ? [opened['at'] ?? '', opened['id'] ?? ''] : undefined;

const momentIn = (opened: Opened): Date | undefined =>
  typeof opened === 'object' ? new Date(opened['at'] ?? '') : undefined;

/** With less than this it is time to add funds. */
const LOW = nanos(1_000_000_000n);
const ADD_FUNDS = { href: '/wallet', label: 'Open wallet' } as const;

/** What stands around every page of whoever is signed in: the balance, and that it is low or that something is owed. */
@Injectable()
export class WalletShell implements OnModuleInit {
  constructor(
    private readonly wallets: WalletService,
    private readonly shell: ShellContent,
  ) {}

  onModuleInit(): void {
    this.shell.add((visitor) => this.of(visitor));
  }

  private async of({ accountId, verified }: Visitor): Promise<Shell> {
    // Before the address is verified there is nothing to see of it.
    if (!verified) return {};
    const { balance, held, owed } = await this.wallets.balanceOf(accountId);
    const left = nanos(balance - held);
    if (owed > 0n) return { balance, notices: [owing(owed)] };
    if (left >= LOW || !(await this.wallets.everFunded(accountId))) return { balance };
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
