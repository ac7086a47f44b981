// Money of accounts: balances, debts, the double-entry ledger, manual credits and debits, redemption codes,
// allowances, payments, and the check that recomputes all of it. Holds and charges of calls are written by
// relay/billing.
export { AllowanceService } from './allowance/allowance.service.js';
export { AllowancePeriod, AllowanceTurn } from './allowance/allowance-turn.js';
export { allowanceOf, type AllowanceOutlook, lastingBalance } from './allowance/allowance-outlook.js';
export { allowanceView, expiryNote } from './allowance/allowance-text.js';
export { AllowanceCalendar, type CalendarMoment } from './allowance/allowance-calendar.js';
export { LedgerCheck, type LedgerReport } from './ledger-check.js';
export { CodeNotRedeemable, CodesNotPossible } from './redemption.errors.js';
export { CODE_STATES, type CodeFilter, type CodePosition, type CodeState } from './listed-code.js';
export { type Redemption, type RedemptionCode, RedemptionService } from './redemption.service.js';
export { AmountNotPossible, DebitTooLarge, WalletClosed, WalletInUse, WalletNotFound } from './wallet.errors.js';
export { type Outlook, WalletOutlook } from './wallet-outlook.js';
export { Reconciliation } from './payments/reconciliation.js';
export type { PaymentProblem } from './payments/payment-problem.js';
export { PaymentProblems } from './payments/payment-problems.js';
export { WalletClosure } from './wallet-closure.js';
export { WalletModule } from './wallet.module.js';
export {
  type BalanceAt,
  type ConsumptionDay,
  type ConsumptionPage,
  type TopUp,
  type TopUpPage,
  WalletStatement,
} from './wallet-statement.js';
export { EVENT_TYPES, WEBHOOK_PATH } from './payments/stripe.wire.js';
export { type PaymentOfMovement, type TopUpPosition } from './wallet-movements.js';
export { type WalletBalance, type WalletPreview, WalletService } from './wallet.service.js';
export { type PaymentOffer, isPayable, offerIn, payableText } from './payments/payment-offer.js';
export { CheckoutService, TooManyUnpaid } from './payments/checkout.service.js';
export { PaymentsUnavailable } from './payments/stripe-api.js';
export { type TopUpOrder, type TopUpState, payableAt } from './payments/top-up.js';
