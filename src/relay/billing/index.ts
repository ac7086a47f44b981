// Owns what a call costs and how it is paid: the price formula, holds, admission, extension and settlement (SQL
// functions in migrations/), what is charged at each ending, that no two processes run a named call, and who closes
// the calls of one that died (sweeper/). The one module that writes wallets, keys, budgets and calls in one statement.
// Does not own prices (catalog), balances that people change (wallet), or what is sent to anyone (relay).
export { accounted } from './accounted.js';
export { AdmissionHealth } from './admission-health.js';
export { AdmissionTrial, type TriedAdmission } from './admission-trial.js';
export { AttemptLog, type AttemptTarget } from './attempt-log.js';
export { InsufficientQuota } from './billing.errors.js';
export { BillingModule } from './billing.module.js';
export { BillingService } from './billing.service.js';
export type { RefusedCall } from './call-row.js';
export { countedPromptTokens, likelyPromptTokens } from './hold.js';
export { NamedCalls } from './named-calls.js';
export { type BillingPlan, type CallToAdmit, termsOf, termsToHold } from './plan.js';
export { costOf, costTerms, type PriceTerms } from './price.js';
export { requirePrices, unpricedTool } from './service-tier.js';
export { type Admission, type CallTimes, Ticket } from './ticket.js';
export { InterruptedCalls } from './sweeper/interrupted-calls.js';
export { SweepTimings } from './sweeper/sweep-timings.js';
export { Sweeper } from './sweeper/sweeper.js';
