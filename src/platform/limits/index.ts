// Rate and concurrency limits for API keys, accounts, model groups and addresses, with counts shared by all processes.
// Which limits apply is decided in keys, auth and catalog; when to check them, in relay.
export { LimitNotPossible } from './limit.errors.js';
export { LimitColumns, limitColumns, limitsIn } from './limit-columns.js';
export { describeLimits, LARGEST_LIMIT, renderLimits } from './limit-names.js';
export {
  changedLimits,
  LIMITED,
  type Limited,
  type Limits,
  type LimitsChange,
  NO_LIMITS,
  NO_DEFAULT_LIMITS,
  ownOrDefault,
  DEFAULT_LIMITED,
  type DefaultLimits,
} from './limits.js';
export { CallCounts } from './call-counts.js';
export { LimitsModule } from './limits.module.js';
export { RateLimited } from './rate-limited.js';
export { type Permit, RateLimiter } from './rate-limiter.js';
export { serveLimits } from './serve-limits.js';
export { type Demand, isUnlimited, type Subject } from './subject.js';
export { type LimitStatus, type LimitStatuses } from './limit-status.js';
