// What accounts own: balances, the double-entry ledger behind them, credits and debits by the operator, and the check
// that recomputes all of it. Does not own what calls hold and cost: admission and settlement write that.
export { LedgerCheck, type LedgerReport } from './ledger-check.js';
export { AmountNotPossible, DebitTooLarge, WalletNotFound } from './wallet.errors.js';
export { WalletModule } from './wallet.module.js';
export { type WalletBalance, WalletService } from './wallet.service.js';
