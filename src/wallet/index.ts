// Money of accounts: balances, debts, the double-entry ledger, manual credits and debits, redemption codes,
// allowances, payments, and the check that recomputes all of it. Holds and charges of calls are written by
// relay/billing.
export {
  AllowanceCalendar,
  AllowancePeriod,
  AllowanceService,
  AllowanceRenewal,
  type CalendarMoment,
} from './allowance/allowance.service.js';
export {
  allowanceOf,
  type AllowanceOutlook,
  allowanceView,
  expiryNote,
  lastingBalance,
  type Outlook,
  WalletOutlook,
} from './wallet-outlook.js';
export { LedgerCheck, type LedgerReport } from './ledger-check.js';
export {
  CODE_STATES,
  type CodeFilter,
  CodeNotRedeemable,
  type CodePosition,
  InvalidCodes,
  type CodeState,
} from './redemption-code.js';
export { type Redemption, type RedemptionCode, RedemptionService } from './redemption.service.js';
export { InvalidAmount, DebitTooLarge, WalletClosed, WalletInUse, WalletNotFound } from './wallet.errors.js';
export { Reconciliation } from './payments/reconciliation.js';
export { type PaymentProblem, PaymentProblems } from './payments/payment-problems.js';
export { WalletClosure } from './wallet-closure.js';
export { WalletModule } from './wallet.module.js';
export {
  type BalanceAt,
  type ConsumptionDay,
  type ConsumptionPage,
  type PaymentOfMovement,
  type TopUp,
  type TopUpPage,
  type TopUpPosition,
  WalletStatement,
} from './wallet-movements.js';
export { EVENT_TYPES, WEBHOOK_PATH } from './payments/stripe.wire.js';
export { type WalletBalance, type WalletPreview, WalletService } from './wallet.service.js';
export {
  CheckoutService,
  isPayable,
  offerIn,
  payableText,
  type PaymentOffer,
  TooManyUnpaid,
} from './payments/checkout.service.js';
export { PaymentsUnavailable } from './payments/stripe-api.js';
export { type TopUpOrder, type TopUpState, payableAt } from './payments/top-up.js';
