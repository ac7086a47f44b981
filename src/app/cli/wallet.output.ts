import { formatUsd } from '../../platform/shared/index.js';
import type { WalletBalance } from '../../wallet/index.js';

/** A wallet as `--json` prints it. */
export type WalletJson = {
  readonly balance_usd: string;
  readonly held_usd: string;
  readonly owed_usd: string;
};

/** Zero for an account without a wallet. */
export const walletJson = (wallet: WalletBalance | undefined): WalletJson => ({
  balance_usd: formatUsd(wallet?.balance ?? 0n),
  held_usd: formatUsd(wallet?.held ?? 0n),
  owed_usd: formatUsd(wallet?.owed ?? 0n),
});

/** The same for people, who rarely owe anything. */
export function walletText(wallet: WalletBalance): string {
  const owed = wallet.owed > 0n ? `; the account owes $${formatUsd(wallet.owed)}` : '';
  return `balance $${formatUsd(wallet.balance)}, of which $${formatUsd(wallet.held)} on hold${owed}`;
}
