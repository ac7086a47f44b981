import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Nanos, nanos } from '../../platform/shared/index.js';
import { type Notice, type Shell, ShellContent } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { usd } from '../../platform/format/index.js';
import { WalletService } from '../../wallet/index.js';

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
