// The cost of a call and its payment: price formula, holds, admission, extension and settlement (SQL functions in
// platform/database/sql/), the charge of each ending, idempotency keys, and closing the calls of dead processes. Prices
// are in catalog, balances in wallet.
export { accounted } from './accounted.js';
export { AdmissionHealth } from './admission.js';
export { AdmissionTrial, type AdmissionTrialResult } from './admission-trial.js';
export { AttemptLog, type AttemptTarget } from './attempt-log.js';
export { InsufficientQuota } from './billing.errors.js';
export { BillingModule } from './billing.module.js';
export { BillingService } from './billing.service.js';
export type { RefusedCall } from './call-row.js';
export { countedPromptTokens, likelyPromptTokens } from './hold.js';
export { IdempotencyKeys } from './idempotency-keys.js';
export { type BillingPlan, termsOf } from './plan.js';
export { costOf, costItems, type PriceTerms } from './price.js';
export { requirePrices, unpricedTool } from './service-tier.js';
export { type Admission, type CallTimes, Ticket } from './ticket.js';
export { InterruptedCalls, Sweeper } from './sweeper/sweeper.js';
export { SweepTimings } from './sweeper/presence.js';
