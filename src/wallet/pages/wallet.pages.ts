import { Injectable } from '@nestjs/common';
import { Clock, dayOf } from '../../shared/index.js';
import { TimeLimitedReads } from '../../usage/index.js';
import { Cursors, Form, Page, type Visitor } from '../../web/index.js';
import { allowanceOf } from '../allowance/allowance-outlook.js';
import type { TopUpPosition } from '../wallet-movements.js';
import { WalletStatement } from '../wallet-statement.js';
import type { RedeemForm } from './redeem.form.js';
import { walletPage } from './wallet.view.js';

const TOP_UPS = 'top-ups';
const DAYS = 'consumption';
const PAGE_ROWS = 50;

/** Where the two lists of the page begin, as the address has it. */
export interface WalletEntry {
  readonly topups?: unknown;
  readonly before?: unknown;
}

/** The page of the wallet. */
@Injectable()
export class WalletPages {
  constructor(
    private readonly statement: WalletStatement,
    private readonly reads: TimeLimitedReads,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /** @param form as it was sent, when it was refused; its status then, when that is not 422 */
  async show(
    { accountId, timeZone }: Visitor,
    entry: WalletEntry,
    form: Form<RedeemForm> = Form.empty(),
    status?: number,
  ): Promise<Page> {
    const now = this.clock.date();
    const [topUpsFrom, daysFrom] = [this.open(TOP_UPS, entry.topups), this.open(DAYS, entry.before)];
    const data = await this.reads.read(async (query) => {
      const topUps = await this.statement.topUps(query, accountId, positionIn(topUpsFrom), PAGE_ROWS);
      const days = await this.statement.consumption(query, accountId, timeZone, momentIn(daysFrom));
      return walletPage({
        wallet: await this.statement.balance(query, accountId),
        history: await this.statement.history(query, accountId, timeZone, now),
        pace: await this.statement.pace(query, accountId, now),
        allowance: await allowanceOf(query, accountId),
        topUps: topUps.topUps,
        days: days.days,
        dayNames: days.days.map(({ start }) => dayOf(start, timeZone)),
        olderTopUps: topUps.older && this.cursors.seal(TOP_UPS, { at: topUps.older[0], id: topUps.older[1] }),
        olderDays: days.before && this.cursors.seal(DAYS, { at: days.before.toISOString() }),
        topUpsTurned: typeof topUpsFrom === 'object',
        daysTurned: typeof daysFrom === 'object',
        lost: topUpsFrom === 'lost' || daysFrom === 'lost',
        now,
        timeZone,
        form,
      });
    });
    return new Page('wallet/wallet', { title: 'Wallet', data, ...(status !== undefined && { status }) });
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
