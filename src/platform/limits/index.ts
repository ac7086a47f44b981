// Rate and concurrency limits for API keys, accounts, model groups and addresses, with counts shared by all processes.
// Which limits apply is decided in keys, auth and catalog; when to check them, in relay.
export {
  changedLimits,
  DEFAULT_LIMITED,
  type DefaultLimits,
  type Demand,
  describeLimits,
  isUnlimited,
  LARGEST_LIMIT,
  LimitColumns,
  limitColumns,
  LIMITED,
  type Limited,
  InvalidLimit,
  type Limits,
  type LimitsChange,
  limitsIn,
  type LimitSubject as Subject,
  NO_DEFAULT_LIMITS,
  NO_LIMITS,
  ownOrDefault,
  renderLimits,
} from './limits.js';
export { CallCounts } from './call-counts.js';
export { LimitsModule, type Permit, RateLimiter } from './rate-limiter.js';
export { type LimitStatus, type LimitStatuses, RateLimited } from './rate-limited.js';
export { serveLimits } from './serve-limits.js';
