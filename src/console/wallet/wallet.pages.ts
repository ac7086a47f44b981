import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/index.js';
import { Cursors, type Form, Page } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { offerIn, type TopUpPosition } from '../../wallet/index.js';
import type { PaymentForm } from './payment.form.js';
import type { RedeemForm } from './redeem.form.js';
import { WalletReader } from './wallet-reader.js';
import { walletPage } from './wallet.view.js';

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
  readonly payment?: Form<PaymentForm>;
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
